/** The independent verifier: takes nothing from the writer but SHA-256, Ed25519 and the words of the format. */
export { looksLikeTar } from './tar-read.ts';
export { verifyBundle } from './verify-bundle.ts';
export { type VerifyOptions, verifyFile } from './verify-file.ts';
export { type JournalFindings, verifyJournal, worstStatus } from './verify-journal.ts';
export { journalsIn, type OtherFormats, usualDirs, verifyNamed, verifyState } from './verify-state.ts';
