"""What comes in: files in any container, topics, documents, labels and runs in any format."""
