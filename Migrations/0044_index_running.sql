-- Each run closes those of its feed that have died. Without an index the server looks for them among all runs (F-S24).
CREATE INDEX run_running_idx ON fuel.run (source_id) WHERE outcome = 'running';
