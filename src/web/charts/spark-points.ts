/** The points of a small line in a box of this size; empty: there is nothing to draw. */
export function sparkPoints(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return ''
  const [least, most] = [Math.min(...values, 0), Math.max(...values)]
  const range = most - least || 1
  return values
    .map((value, i) => {
      const [x, y] = [(i / (values.length - 1)) * width, height - ((value - least) / range) * height]
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join(' ')
}
