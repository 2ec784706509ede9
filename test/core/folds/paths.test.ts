import { describe, expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { EdgeCounts } from '../../../src/core/folds/edge-counts.ts'
import { nodesPerStep, type PathsParams, pathsFold } from '../../../src/core/folds/paths.ts'
import { selectable, selectionFold } from '../../../src/core/folds/selection.ts'

// The fold over lists that are written by hand: items are letters, times are numbers.

interface Given {
  /** One text per actor: letters and times, in the order of the list. */
  readonly lists: readonly (readonly (readonly [item: string, time: number])[])[]
  /** Orders of arrival; else that of the lists. */
  readonly seq?: readonly number[]
  readonly params?: Partial<Pick<PathsParams, 'gap' | 'start' | 'end' | 'steps' | 'spans'>>
}

const letters = 'abcdefx'

function edgesOf({ lists, seq, params }: Given): string[] {
  const rows = lists.flat()
  const ends = lists.map((_, i) => lists.slice(0, i + 1).flat().length)
  const asked: PathsParams = {
    matching: {
      from: 0,
      to: 1e9,
      scope: null,
      bits: { byEvent: Int32Array.of(1), others: 0, flags: [] },
      further: null,
      takesAll: false,
    },
    item: {
      of: 'event',
      column: { values: Int32Array.from(rows, ([item]) => letters.indexOf(item)), size: letters.length, numbers: null },
    },
    isExcluded: Uint8Array.from(letters, (letter) => (letter === 'x' ? 1 : 0)),
    gap: 30,
    start: null,
    end: null,
    steps: 3,
    spans: null,
    ...params,
  }
  const view = {
    start: Int32Array.from(ends, (_, i) => ends[i - 1] ?? 0),
    end: Int32Array.from(ends),
    time: Float64Array.from(rows, ([, time]) => time),
    event: new Uint8Array(rows.length),
    seq: Uint32Array.from(seq ?? rows.keys()),
    persons: lists.length,
    used: rows.length,
    entry: null,
    extent: null,
    selection: null,
    pages: null,
  }
  const completed = <R>(steps: Generator<void, R, void>): R => {
    let step = steps.next()
    while (!step.done) step = steps.next()
    return step.value
  }
  const run = (from: number, to: number) => completed(pathsFold.run(view, asked, from, to))
  const whole = run(0, lists.length)!
  const parts = pathsFold.join(
    lists.map((_, i) => run(i, i + 1)),
    asked,
  )!
  const perStep = nodesPerStep(asked)
  const name = (code: number) => letters[code] ?? '...'
  const shown = ({ source, target, count, took }: typeof whole) =>
    Array.from(source, (node, i) => {
      const step = Math.floor(node / perStep) + 1
      return `${step}${name(node % perStep)}-${step + 1}${name(target[i]!)} ${count[i]} ${took[i]}`
    }).sort()
  expect(shown(parts)).toEqual(shown(whole))
  const [selection] = completed(selectionFold.run(view, selectable(asked.matching)!, 0, lists.length))
  const selected = completed(pathsFold.run({ ...view, selection: selection! }, asked, 0, lists.length))!
  expect(shown(selected)).toEqual(shown(whole))
  return shown(whole)
}

describe('the fold of paths', () => {
  test.each<[name: string, given: Given, edges: string[]]>([
    ['nothing', { lists: [[]] }, []],
    ['one event', { lists: [[['a', 1]]] }, []],
    [
      'two actors',
      {
        lists: [
          [
            ['a', 1],
            ['b', 3],
          ],
          [
            ['a', 1],
            ['b', 6],
          ],
        ],
      },
      ['1a-2b 2 7'],
    ],
    [
      'no more steps than the limit, and the last of the same items',
      {
        lists: [
          [
            ['a', 1],
            ['a', 2],
            ['b', 3],
            ['c', 4],
            ['c', 5],
            ['d', 6],
            ['c', 7],
          ],
        ],
      },
      ['1a-2b 1 1', '2b-3c 1 2'],
    ],
    [
      'a gap as long as the limit begins a session',
      {
        lists: [
          [
            ['a', 0],
            ['b', 29],
            ['c', 59],
            ['d', 60],
          ],
        ],
      },
      ['1a-2b 1 29', '1c-2d 1 1'],
    ],
    [
      'repeated items keep a session going, across a gap they do not',
      {
        lists: [
          [
            ['a', 0],
            ['a', 20],
            ['a', 40],
            ['a', 70],
            ['b', 80],
          ],
        ],
      },
      ['1a-2b 1 10'],
    ],
    [
      'an excluded item does not keep it going',
      {
        lists: [
          [
            ['a', 0],
            ['x', 20],
            ['b', 40],
            ['c', 41],
          ],
        ],
      },
      ['1b-2c 1 1'],
    ],
    [
      'equal times in order of arrival',
      {
        lists: [
          [
            ['c', 5],
            ['b', 5],
            ['a', 5],
          ],
        ],
        seq: [9, 8, 7],
      },
      ['1a-2b 1 0', '2b-3c 1 0'],
    ],
    [
      'from the first start',
      {
        lists: [
          [
            ['b', 1],
            ['a', 2],
            ['c', 3],
            ['a', 4],
          ],
        ],
        params: { start: 0 },
      },
      ['1a-2c 1 1', '2c-3a 1 1'],
    ],
    [
      'up to the first end',
      {
        lists: [
          [
            ['a', 1],
            ['b', 2],
            ['c', 3],
            ['d', 4],
            ['e', 5],
            ['d', 6],
          ],
        ],
        params: { end: 3 },
      },
      ['1b-2c 1 1', '2c-3d 1 1'],
    ],
    [
      'what does not fit between two points',
      {
        lists: [
          [
            ['a', 1],
            ['b', 2],
            ['c', 4],
            ['d', 8],
            ['e', 16],
          ],
        ],
        params: { start: 0, end: 4 },
      },
      ['1a-2... 1 1', '2...-3e 1 14'],
    ],
    ['an item that nobody has', { lists: [[['a', 1]], [['b', 2]]], params: { start: -1 } }, []],
    [
      'spans of actors',
      {
        lists: [
          [
            ['a', 1],
            ['b', 2],
            ['c', 3],
          ],
          [
            ['a', 1],
            ['b', 2],
          ],
        ],
        params: { spans: { from: Float64Array.of(2, 1), to: Float64Array.of(3, 0) } },
      },
      ['1b-2c 1 1'],
    ],
  ])('%s', (_, given, edges) => {
    expect(edgesOf(given)).toEqual(edges)
  })

  test('paths are longer than the arrays at first', () => {
    const list = Array.from({ length: 300 }, (_, i): [string, number] => [letters[i % 6]!, i])
    expect(edgesOf({ lists: [list], params: { steps: 300 } })).toHaveLength(299)
    expect(edgesOf({ lists: [list], params: { start: 0, end: 5, steps: 1000 } })).toHaveLength(5)
  })

  test('counts of very many edges', () => {
    const draw = random(7)
    const counts = new EdgeCounts()
    const right = new Map<string, number>()
    for (let i = 0; i < 50_000; i++) {
      const [source, target] = [Math.floor(draw() * 200), Math.floor(draw() * 200)]
      counts.add(source, target, 1, 2)
      right.set(`${source} ${target}`, (right.get(`${source} ${target}`) ?? 0) + 1)
    }
    const { source, target, count, took } = counts.columns()
    expect(new Map(Array.from(source, (one, i) => [`${one} ${target[i]}`, count[i]]))).toEqual(right)
    expect(Array.from(took)).toEqual(Array.from(count, (n) => 2 * n))
  })
})
