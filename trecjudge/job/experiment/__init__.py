"""An experiment: variants of retrieval and answers, each made, checked, judged and compared."""
