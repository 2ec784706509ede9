import type { Probe } from '../probe.ts'
import { fill } from './shapes.ts'

// Functions of ours that read a text of somebody else's.

const pieces: Readonly<Record<string, readonly string[]>> = {
  formula: ['A', 'A+', '1', '1.', '(', '-', ' ', 'A*', '^A', '%', 'é'],
  csv: ['a,', '"', '""', '"a",', 'a\n', ' ', ',', '\r\n', '"a"b', '\\'],
  parse: [
    '(',
    'select ',
    '1,',
    "'",
    '"',
    '`',
    '/*',
    '--\n',
    '{',
    "f'{",
    '[',
    '<a ',
    'a.',
    ' ',
    '\\',
    '1e',
    '0x',
    '::',
    '?',
    'é',
    '-',
    'not ',
    'case ',
    'with a as (',
    '$',
  ],
}
const kilobyte = 1024

export function* callProbes(draw: () => number): Generator<Probe> {
  const all = Object.entries(pieces).flatMap(([call, of]) =>
    of.flatMap((piece) =>
      ['', '1', ' x'].map(
        (end): Probe => ({
          name: `${call} of ${JSON.stringify(piece)} to ${JSON.stringify(end)}`,
          door: 'call',
          grows: 'input',
          from: kilobyte,
          most: 4 * 1024 * kilobyte,
          make: (size) => ({ to: 'call', call, given: `${call === 'parse' ? 'select ' : ''}${fill(piece, size)}${end}`, bytes: size }),
        }),
      ),
    ),
  )
  yield* all
    .map((one) => [draw(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}
