package import FuelModel
import Postgres
import Views

/// The rows and the lock of an aggregate: `fuel.aggregate_run`.
extension Ledger {
  /// Takes the aggregator's lock for this session. Returns false where another session has it.
  package func lockAggregate() throws -> Bool {
    try store.tryLock("SELECT pg_try_advisory_lock(2, 0) AS taken")
  }

  /// Releases the aggregator's lock.
  package func unlockAggregate() throws {
    try connection.query("SELECT pg_advisory_unlock(2, 0)")
  }

  /// Records that an aggregate begins. Earlier ones that never ended are marked as interrupted: the
  /// caller holds the lock, so none of them can still be running.
  package func beginAggregate(at instant: Instant) throws -> RunID {
    let row = try connection.query(
      """
      WITH dead AS (
        UPDATE fuel.aggregate_run SET outcome = 'interrupted', finished_at = \(instant)
        WHERE outcome = 'running'
      )
      INSERT INTO fuel.aggregate_run (started_at, outcome, days, verdicts, new_verdicts)
      VALUES (\(instant), 'running', 0, 0, 0)
      RETURNING aggregate_run_id
      """
    ).only()
    return RunID(number: try row.integer("aggregate_run_id"))
  }

  /// Returns when the aggregate before the running one began; `nil`: there was none, or it did not
  /// end well.
  package func lastAggregate() throws -> Instant? {
    try connection.query(
      """
      SELECT last.started_at
      FROM (
        SELECT * FROM fuel.aggregate_run
        WHERE outcome <> 'running'
        ORDER BY aggregate_run_id DESC
        LIMIT 1
      ) AS last
      WHERE last.outcome = 'done'
      """
    ).first?.instant("started_at")
  }

  /// Returns the newest instant of which a run that counts brought prices: when a feed was read, or
  /// the end of an archive's file; `nil` where nothing is stored.
  package func newestRun() throws -> Instant? {
    try connection.query(
      """
      SELECT max(coalesce(fetched_at, taken_at)) AS newest_at
      FROM fuel.run
      WHERE outcome IN ('stored', 'unchanged')
      """
    ).only().optionalInstant("newest_at")
  }

  /// Records how an aggregate ended well.
  package func finishAggregate(
    _ run: RunID, at instant: Instant, days: Int, verdicts: Int, newVerdicts: Int
  ) throws {
    try connection.query(
      """
      UPDATE fuel.aggregate_run SET
        outcome = 'done',
        finished_at = \(instant),
        days = \(days),
        verdicts = \(verdicts),
        new_verdicts = \(newVerdicts)
      WHERE aggregate_run_id = \(run)
      """)
  }

  /// Notifies listeners on the channel `fuel_v1` that averages and verdicts are up to date.
  package func announceAggregate(_ run: RunID, newVerdicts: Int) throws {
    try connection.query(
      """
      SELECT pg_notify('fuel_v1', jsonb_build_object(
        'version', 1, 'kind', 'aggregate', 'run', \(run)::integer,
        'new_verdicts', \(newVerdicts)::integer)::text)
      """)
  }

  /// Whether an aggregate that has begun has anything to make that the one before it has not made.
  package func isAggregateDue(_ run: RunID, now: Instant) throws -> Bool {
    try connection.query(
      """
      WITH clock AS MATERIALIZED (SELECT set_config('bowser.now', \(now.description), true))
      SELECT fuel.is_aggregate_due(\(run)::integer) AS is_due FROM clock
      """
    ).only().boolean("is_due")
  }
}
