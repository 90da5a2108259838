/** The independent verifier: takes nothing from the writer but SHA-256, Ed25519 and the words of the format. */
export { journalsIn } from './names.ts';
export { type VerifyOptions, verifyFile } from './verify-file.ts';
export { type JournalFindings, verifyJournal, worstStatus } from './verify-journal.ts';
export { usualDirs, verifyState } from './verify-state.ts';
