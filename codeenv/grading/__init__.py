"""From a submission to a verdict, in a fresh box."""
