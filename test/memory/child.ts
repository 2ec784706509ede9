import { writeSync } from 'node:fs'
import { open } from '../../src/engine.ts'
import { WaymarkError } from '../../src/errors/errors.ts'

// The process whose memory is looked at: statements of its standard input one after the other, and a line of JSON for each. It ends itself where
// its memory passes the mark.   node child.mjs BYTES

const mark = Number(process.argv[2])
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)

const input: Buffer[] = []
for await (const part of process.stdin) input.push(part as Buffer)
const statements = JSON.parse(Buffer.concat(input).toString()) as string[]

const waymark = await open({ dataDir: ':memory:', memoryLimit: '256MB', threads: 2 })
const project = await waymark.createProject()
const note = 'lorem ipsum dolor '.repeat(60)
for (let first = 0; first < 4096; first += 1024)
  await project.ingest({
    batch: Array.from({ length: 1024 }, (_, i) => ({ event: 'e', distinct_id: `u${first + i}`, properties: { note } })),
  })
const query = (text: string) => project.query({ kind: 'SqlLikeQuery', query: text })
await query('select count() from events')
const before = process.memoryUsage.rss()

let running = ''
const watch = setInterval(() => {
  const rss = process.memoryUsage.rss()
  if (rss < mark) return
  say({ statement: running, passed: rss })
  process.kill(process.pid, 'SIGKILL') // an exit would wait for the engine
}, 5)

for (const statement of statements) {
  running = statement
  const started = performance.now()
  const answer = await query(statement).then(
    () => 'answered',
    (error: unknown) => (error instanceof WaymarkError ? `${error.code}: ${error.message}` : `fault: ${error}`),
  )
  const peak = process.resourceUsage().maxRSS * 1024 - before
  say({ statement, answer, peak, seconds: (performance.now() - started) / 1000 })
}
clearInterval(watch)
await waymark.close()
