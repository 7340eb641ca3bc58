"""Tables for a paper or a page: leaderboards, comparisons and correlations in other markups."""
