"""How lazy devices are spelled: the names that a program calls, and those that a message tells people to write."""
