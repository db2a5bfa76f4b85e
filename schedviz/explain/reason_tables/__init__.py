"""The meanings of the reasons of kube-scheduler 1.14 to 1.36, one table for each subject."""
