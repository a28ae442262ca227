"""SageMaker: how a training job is launched."""
