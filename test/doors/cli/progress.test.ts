import { expect, test } from 'vitest'
import { progressLine } from '../../../src/doors/cli/progress.ts'

const stream = (isTTY: boolean) => {
  const written: string[] = []
  return { written, stream: { isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream }
}
const progress = (rows: number, bytesRead: number, isDone = false) => ({ file: 'a.jsonl', rows, bytesRead, bytes: 1000, isDone })

test('on a terminal one line changes: bar, share, rows, rate and what is left', () => {
  let now = 0
  const { written, stream: terminal } = stream(true)
  const line = progressLine(terminal, () => now)
  line.show(progress(0, 0))
  now = 50
  line.show(progress(10, 10)) // too soon to be seen
  now = 2000
  line.show(progress(5000, 250))
  now = 8000
  line.show(progress(20_000, 1000, true))
  line.end()
  expect(written).toEqual([
    '\r\x1b[2Ka.jsonl  [######..................]  25 %  5,000 rows, 2,500/s, 6s left',
    '\r\x1b[2Ka.jsonl  [########################] 100 %  20,000 rows, 2,500/s',
    '\n',
  ])
})

test('elsewhere it is a plain line now and then, and at the end', () => {
  let now = 0
  const { written, stream: file } = stream(false)
  const line = progressLine(file, () => now)
  line.show(progress(0, 0))
  now = 2000
  line.show(progress(5000, 250))
  now = 6000
  line.show(progress(15_000, 750))
  now = 8000
  line.show(progress(20_000, 1000, true))
  line.end()
  expect(written.map((text) => text.replace(/\[.*\]/, '[]'))).toEqual([
    'a.jsonl  []  75 %  15,000 rows, 2,500/s, 2s left\n',
    'a.jsonl  [] 100 %  20,000 rows, 2,500/s\n',
  ])
})
