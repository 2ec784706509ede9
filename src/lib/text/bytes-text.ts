const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** `1536` is `1.5 KiB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
