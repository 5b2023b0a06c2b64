-- Tables without a key that are changed say which row they mean by all of it, so that another server can follow.

ALTER TABLE fuel.change_counter  REPLICA IDENTITY FULL;
ALTER TABLE fuel.average_keeping REPLICA IDENTITY FULL;
ALTER TABLE fuel.fill_up_score   REPLICA IDENTITY FULL;
