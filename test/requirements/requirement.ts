/** One *must* of the seeds or design pages, in our own words. Tests cite it as `[ID]` in their titles. */
export interface Requirement {
  readonly id: string;
  /** Document and section it comes from, e.g. `shell.md Gate` or `capsule §4`. */
  readonly source: string;
  readonly text: string;
  /** `met` needs a citing test; `open` is listed in the closing summary. */
  readonly state: 'met' | 'open';
}
