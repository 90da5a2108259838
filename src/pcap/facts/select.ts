/** Finding a few among many without sorting them all. */

/**
 * The value that would stand at `k` if the values from `from` to the end were sorted. They are moved (smaller ones
 * before it, larger ones behind). Pivots are drawn at random: nobody can aim at the worst case.
 */
export function nth(values: Float64Array, k: number, from = 0): number {
  let low = from;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[low + Math.floor(Math.random() * (high - low + 1))]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i > j) break;
      const moved = values[i]!;
      values[i++] = values[j]!;
      values[j--] = moved;
    }
    // Between j and i stand only values equal to the pivot.
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else return pivot;
  }
  return values[k]!;
}

/** The first `keep` of the indices below `count` that are wanted, in the order of `precedes`, and how many are wanted. */
export function firstOf(
  count: number,
  keep: number,
  wanted: (index: number) => boolean,
  precedes: (a: number, b: number) => boolean,
): { readonly indices: readonly number[]; readonly total: number } {
  const indices: number[] = [];
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (!wanted(i)) continue;
    total++;
    if (indices.length === keep) {
      if (!precedes(i, indices[keep - 1]!)) continue;
      indices.pop();
    }
    let at = indices.length;
    while (at > 0 && precedes(i, indices[at - 1]!)) at--;
    indices.splice(at, 0, i);
  }
  return { indices, total };
}
