/** The first index of a list whose time is not before `from`. */
export function firstSince(time: Float64Array, start: number, end: number, from: number): number {
  if (start === end || time[start]! >= from) return start
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (time[middle]! < from) low = middle + 1
    else high = middle
  }
  return low
}
