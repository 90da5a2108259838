import type { RoomMigrations } from '../ledger/index.ts';

/** Tables of the approvals store. Frozen once released: changes are new steps. */
const steps: readonly string[] = [
  `CREATE TABLE approvals (
     approval_id     TEXT PRIMARY KEY,
     kind            TEXT NOT NULL,
     flight_id       TEXT,
     workflow_id     TEXT,
     step_id         TEXT,
     reason          TEXT NOT NULL,
     reasoning       TEXT NOT NULL,
     required_role   TEXT,
     plan_token_hash TEXT,
     action_digest   TEXT NOT NULL,
     policy_digest   TEXT NOT NULL,
     requester       TEXT NOT NULL,
     created_at      TEXT NOT NULL,
     expires_at      TEXT NOT NULL,
     state           TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'used')),
     approver        TEXT,
     approver_role   TEXT,
     asserted_by     TEXT,
     response_reason TEXT,
     responded_at    TEXT,
     used_at         TEXT,
     action_json     TEXT NOT NULL
   ) STRICT;
   CREATE INDEX approvals_by_state ON approvals (state, created_at);`,
];

export const APPROVALS_MIGRATIONS: RoomMigrations = { room: 'authority', steps };
