/** Seconds with nine decimals; before the epoch the sign stands in front. */
export function timeText(seconds: number, nanoseconds: number): string {
  if (seconds < 0 && nanoseconds > 0)
    return `-${-(seconds + 1)}.${String(1e9 - nanoseconds).padStart(9, '0')}`;
  // A fraction that no second has (a damaged record) shows as the reference shows it.
  if (nanoseconds < 0) return `-${seconds}.${String(-nanoseconds).padStart(9, '0')}`;
  return `${seconds}.${String(nanoseconds).padStart(9, '0')}`;
}
