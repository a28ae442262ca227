"""Devices, launch and API: code that was written for another device, another release or another launcher."""
