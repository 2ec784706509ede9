import type { LogDamage, StoreDamage } from './directory.ts'

// What opening a project must make of its damaged files, written from the description in docs/reliability.md.

export type Expected =
  /** Everything that was acknowledged is there. */
  | { readonly is: 'whole' }
  /** Refused with that code, which names those records; `partial` goes on with so many events, and names the same ones. */
  | {
      readonly is: 'refused'
      readonly code: 'store-broken' | 'log-damaged'
      readonly lost: readonly [number, number]
      readonly left: number
    }

const whole: Expected = { is: 'whole' }
const damaged = (from: number, to: number, left: number): Expected => ({ is: 'refused', code: 'log-damaged', lost: [from, to], left })
const broken = (to: number, left: number): Expected => ({ is: 'refused', code: 'store-broken', lost: [1, to], left })

/** A store that cannot be read at all: its header or a block is damaged, or it is gone. */
const unreadable = (expected: Expected) => ({ 'flipped in its header': expected, 'flipped in a block': expected, gone: expected })
const everywhere = (expected: Expected) => ({ sound: expected, ...unreadable(expected), 'with a damaged write-ahead log': expected })

export const expectations: { readonly [L in LogDamage]: { readonly [S in StoreDamage]: Expected } } = {
  sound: everywhere(whole),
  'with a torn batch behind its end': everywhere(whole),
  'flipped where the file has it': { ...everywhere(whole), ...unreadable(damaged(11, 15, 85)) },
  'flipped where the write-ahead log has it': { ...everywhere(damaged(41, 45, 85)), sound: whole },
  'flipped where nothing else has it': everywhere(damaged(71, 75, 85)),
  'cut in its last batch': everywhere(damaged(86, 90, 85)),
  'cut below the store': { ...everywhere(damaged(41, 90, 40)), sound: damaged(61, 90, 60) },
  'cut to nothing': {
    sound: damaged(61, 90, 60),
    ...unreadable(broken(90, 0)),
    'with a damaged write-ahead log': damaged(31, 90, 30),
  },
  gone: { sound: damaged(61, 90, 60), ...unreadable(broken(90, 0)), 'with a damaged write-ahead log': damaged(31, 90, 30) },
}

const cell = (expected: Expected): string => {
  if (expected.is === 'whole') return 'everything'
  const [from, to] = expected.lost
  return `\`${expected.code}\`, ${from}–${to} lost, ${expected.left} left`
}

/** The table of docs/reliability.md. */
export function damageTable(): string {
  const stores = Object.keys(expectations.sound) as StoreDamage[]
  const rows = Object.entries(expectations).map(([log, byStore]) => [log, ...stores.map((store) => cell(byStore[store]))])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(['log \\ store', ...stores]), `|${'---|'.repeat(stores.length + 1)}`, ...rows.map(line)].join('\n')
}
