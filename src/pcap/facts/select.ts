/**
 * The value that would stand at `k` if the values were sorted. They are moved (smaller ones before it, larger ones
 * behind), which takes a fraction of what sorting takes. Pivots are drawn at random: nobody can aim at the worst case.
 */
export function nth(values: Float64Array, k: number): number {
  let low = 0;
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
