const widest = 60

const cell = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  const line = text.replace(/\s+/g, ' ')
  return line.length > widest ? `${line.slice(0, widest - 1)}…` : line
}

/** Aligned columns, numbers to the right. */
export function tableText(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => columns.map((_, i) => cell(row[i])))
  const widths = columns.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]!.length)))
  const isNumber = columns.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => (isNumber[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}
