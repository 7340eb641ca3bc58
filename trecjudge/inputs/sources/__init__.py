"""Where records come from: files (`paths`), unpacked (`containers`), as JSON (`values`)."""
