import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { questions } from '../../bench/compare/questions.ts'
import { verdictOf } from '../../bench/compare/verdict.ts'

// The comparison of two revisions, on a repository whose library answers at once, or waits before it answers one kind of question.

const library = (delays: string) => `
const busy = (ms) => { for (const from = performance.now(); performance.now() - from < ms; ); }
const project = {
  id: 1,
  ingest: async () => {},
  query: async ({ kind }) => { busy((${delays})[kind] ?? 0.1); return { results: [kind] } },
}
export const open = async () => ({ createProject: async () => project, project: async () => project, close: async () => {} })
`
let folder: string
let root: string
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: root, encoding: 'utf8' })
const write = (delays: string) => writeFileSync(join(root, 'src', 'index.ts'), library(delays))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waymark-compare-'))
  root = join(folder, 'repository')
  mkdirSync(join(root, 'src'), { recursive: true })
  git('init', '--quiet')
  writeFileSync(join(root, '.gitignore'), '.bench/\n')
  write('{}')
  git('add', '.')
  git('commit', '--quiet', '-m', 'fast')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Line {
  readonly what: string
  readonly slower?: true
}
async function compared(...args: string[]) {
  const runner = resolve(import.meta.dirname, '../../bench/run.ts')
  const loader = import.meta.resolve('tsx')
  const child = spawn(process.execPath, ['--import', loader, runner, ...args], { cwd: root, env: { ...process.env, TMPDIR: folder } })
  const [out, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once('close', done)),
  ])
  const lines = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
  return { lines, errors, code, slower: lines.filter((line) => line.slower).map(({ what }) => what) }
}
const isCleanedUp = () => {
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(readdirSync(folder).filter((name) => name.startsWith('waymark-'))).toEqual([])
}

test('a question that the working tree answers five times slower is found, and the checkout is removed', async () => {
  write('{ FunnelsQuery: 0.5 }')
  const { lines, slower, code, errors } = await compared('HEAD', '--events', '5', '--runs', '3')
  expect(errors).toBe('')
  expect(lines.map(({ what }) => what)).toEqual(questions.map(({ what }) => what))
  expect(slower).toEqual(expect.arrayContaining(questions.filter(({ query }) => query.kind === 'FunnelsQuery').map(({ what }) => what)))
  expect(code).toBe(1)
  isCleanedUp()
})

test('a slowdown that is planted is found in each question', async () => {
  write('{}')
  const { slower, code } = await compared('HEAD', '--events', '5', '--runs', '5', '--slow-down', '3')
  expect(slower).toEqual(expect.arrayContaining(questions.filter(({ when }) => when === undefined).map(({ what }) => what)))
  expect(code).toBe(1)
  isCleanedUp()
})

test('a revision that does not exist is refused before anything is checked out', async () => {
  const { lines, errors, code } = await compared('nothing-of-this-name')
  expect([lines, code]).toEqual([[], 2])
  expect(errors.trim()).toBe('There is no revision nothing-of-this-name. Give a commit, a branch or a tag; --only NAME runs one bench.')
  isCleanedUp()
})

test('a working tree that cannot be built leaves no checkout behind', async () => {
  writeFileSync(join(root, 'src', 'index.ts'), 'export const open = (')
  const { code } = await compared('HEAD', '--events', '5')
  expect(code).toBe(1)
  isCleanedUp()
})

test('slower is what is slower by more than a tenth in most pairs', () => {
  const pairs = (...ratios: number[]) => ratios.map((ratio) => ({ revision: 10, working: 10 * ratio }))
  expect(verdictOf(pairs(1.2, 1.15, 1.3, 1.2, 1.25)).isSlower).toBe(true)
  expect(verdictOf(pairs(1.09, 1.08, 1.09, 1.07, 1.09)).isSlower).toBe(false)
  expect(verdictOf(pairs(0.6, 0.7, 1.5, 2, 1.6)).isSlower).toBe(false)
  expect(verdictOf(pairs(0.5, 0.6, 0.5, 0.55, 0.6)).isSlower).toBe(false)
})
