import type { Converter, ImportedEvent } from '../record.ts'

const pairsKept = 100_000

/** The event that says that a device is a user's: what the device did before it was known belongs to the same person. */
export const identifying = (device: string, user: string, timestamp: string): ImportedEvent => ({
  event: '$identify',
  distinct_id: user,
  timestamp,
  properties: { $anon_distinct_id: device },
  source_id: `identify\n${device}\n${user}`,
})

/** Rows of which some become two events, the first of them an identify event: one for each device and user is enough. */
export function identifiedOnce(convert: Converter): Converter {
  const joined = new Set<string>()
  return (row) => {
    const converted = convert(row)
    const [first, ...others] = 'problem' in converted ? [] : converted
    if (!first || others.length === 0) return converted
    const pair = String(first.source_id)
    if (joined.has(pair)) return others
    if (joined.size >= pairsKept) joined.clear()
    joined.add(pair)
    return converted
  }
}
