import { cellText, numberText, timeText } from '../../service/pictures/format.ts'

export { cellText, numberText }

/** `2026-01-05 11:00` in the zone of the project. */
export const momentText = (value: string | null | undefined, timezone: string): string =>
  value ? (timeText(new Date(value), timezone) ?? value) : '–'

export function agoText(value: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(value)) / 1000))
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A text as a constant of our SQL. */
export const sqlText = (text: string): string => `'${text.replace(/[\\']/g, (found) => `\\${found}`)}'`
