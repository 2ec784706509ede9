import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readQuestions } from '../../bench/own/question-file.ts'
import { open } from '../../src/index.ts'

// A person's own questions over a copy of their directory: with the working tree, and beside a revision.

let folder: string
let data: string
let id: number

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-own-'))
  data = join(folder, 'data')
  const waymark = await open({ dataDir: data })
  const project = await waymark.createProject({ name: 'Shop' })
  id = project.id
  await project.ingest({
    batch: Array.from({ length: 300 }, (_, i) => ({
      event: i % 3 ? 'visit' : 'buy',
      distinct_id: `u${i % 20}`,
      timestamp: '2026-03-05T10:00:00Z',
      properties: { amount: i },
    })),
  })
  await waymark.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const trend = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'visit', math: 'dau' }],
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-09' },
}

async function run(...args: string[]) {
  const root = resolve(import.meta.dirname, '../..')
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), join(root, 'bench/run.ts'), ...args], { cwd: root })
  const [out, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once('close', done)),
  ])
  return {
    code,
    errors,
    lines: out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [])),
  }
}

test('each question has a line: the first time, the times after it, rows and roads; one that is refused says why', async () => {
  const questions = [trend, { name: 'by name', query: 'select event, count() from events group by event' }, 'select nothing from events']
  const { lines, code } = await run('--data', data, '--questions', file('own.json', JSON.stringify(questions)), '--runs', '2')
  expect(lines).toMatchObject([
    { bench: 'own', what: 'question 1: TrendsQuery', rows: 1, ms: expect.any(Number), first_ms: expect.any(Number) },
    { what: 'by name', rows: 2 },
    { what: 'select nothing from events', refused: expect.stringContaining('nothing') },
  ])
  expect(lines[0]!.explain).toEqual([expect.stringContaining('core')])
  expect(code).toBe(1)
})

test('beside a revision: ratios, and no trace of the copy', async () => {
  const before = readdirSync(folder)
  const { lines, errors, code } = await run(
    'HEAD',
    '--data',
    data,
    '--questions',
    file('one.jsonl', `${JSON.stringify(trend)}\n`),
    '--runs',
    '3',
  )
  expect(errors).toBe('')
  expect(lines).toMatchObject([{ what: 'line 1: TrendsQuery', ratio: expect.any(Number), first_ratio: expect.any(Number) }])
  expect(lines[0]).not.toHaveProperty('other_answer')
  expect(code).toBe(0)
  expect(readdirSync(folder).filter((name) => !before.includes(name))).toEqual(['one.jsonl'])
})

test.each([
  [['--data', '/nowhere'], 2, /Give both/],
  [['--data', '/nowhere', '--questions', 'FILE'], 1, /There is no directory \/nowhere/],
  [['no-such-revision', '--data', 'DATA', '--questions', 'FILE'], 2, /There is no revision no-such-revision/],
] as const)('what cannot be asked is refused: %j', async (args, status, message) => {
  const questions = file('question.json', JSON.stringify([trend]))
  const { code, errors } = await run(...args.map((one) => (one === 'FILE' ? questions : one === 'DATA' ? data : one)))
  expect([code, errors]).toEqual([status, expect.stringMatching(message)])
})

test.each([
  ['', /has no questions/],
  ['[1]', /question 1 is neither a query/],
  ['{"kind": "TrendsQuery"}\n{', /line 2 of .* is not JSON/],
  ['[{"name": "x", "query": {}}]', /question 1 is neither a query/],
])('a file of questions that is none: %j', (content, message) => {
  expect(() => readQuestions(file('bad.json', content))).toThrow(message)
})

test('another project than the only one is asked for', async () => {
  const questions = file('question.json', JSON.stringify([trend]))
  const { errors, code } = await run('--data', data, '--questions', questions, '--project', '99')
  expect(errors).toContain(`${id} (Shop)`)
  expect(code).toBe(1)
})
