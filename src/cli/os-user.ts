import { userInfo } from 'node:os';

/** Who the operating system says is typing. A user without an entry in passwd goes by the number. */
export function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
