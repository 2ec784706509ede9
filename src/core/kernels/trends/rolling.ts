/**
 * Distinct actors in overlapping windows. Row i: `actor[i]` was active in the fine bucket `fine[i]`, inside `group[i]`. A fine bucket counts in the
 * windows `first[fine]` to `last[fine]`; both increase with it. Rows may repeat and come in any order. One row of counts per group.
 */
export interface RollingInput {
  readonly fine: Int32Array
  readonly actor: Int32Array
  readonly group: Int32Array | null
  readonly actors: number
  readonly groups: number
  readonly first: Int32Array
  readonly last: Int32Array
  readonly windows: number
}

export function countRolling(input: RollingInput): Float64Array[] {
  const { fine, actor, group, first, last, windows } = input
  const changes = Array.from({ length: input.groups }, () => new Float64Array(windows + 1))
  // In order of time an actor's windows only ever reach further: what is new begins behind the last one it was counted in.
  const counted = new Int32Array(input.actors).fill(-1)
  const owner = group && new Int32Array(input.actors).fill(-1)
  const rows = sortRows(input)
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const who = actor[row]!
    const where = group ? group[row]! : 0
    if (owner && owner[who] !== where) {
      owner[who] = where
      counted[who] = -1
    }
    const bucket = fine[row]!
    const from = Math.max(first[bucket]!, counted[who]! + 1)
    const to = last[bucket]!
    if (from > to) continue
    counted[who] = to
    const change = changes[where]!
    change[from]! += 1
    change[to + 1]! -= 1
  }
  for (const change of changes) for (let i = 1; i <= windows; i++) change[i]! += change[i - 1]!
  return changes.map((change) => change.subarray(0, windows))
}

/** Rows by group, and within a group by time: two counting sorts, the second of them stable. */
function sortRows({ fine, group, first, groups }: RollingInput): Int32Array {
  const byTime = countingSort(null, fine, first.length)
  return group ? countingSort(byTime, group, groups) : byTime
}

function countingSort(rows: Int32Array | null, keys: Int32Array, size: number): Int32Array {
  const next = new Int32Array(size + 1)
  for (let i = 0; i < keys.length; i++) next[keys[i]! + 1]! += 1
  for (let i = 1; i <= size; i++) next[i]! += next[i - 1]!
  const sorted = new Int32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    const row = rows ? rows[i]! : i
    sorted[next[keys[row]!]!++] = row
  }
  return sorted
}
