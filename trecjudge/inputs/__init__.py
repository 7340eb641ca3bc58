"""What comes in: files of any container, topics, documents, labels and runs of any format."""
