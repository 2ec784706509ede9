import { wrongUsage } from '../command.ts'

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Of the value of an option. */
export function millisecondsOf(name: string, text: string): number {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (!number || Number(number) === 0) throw wrongUsage(`--${name} must be a time such as 30m, 12h or 30d, but got ${text}.`)
  return Number(number) * units[unit!]!
}
