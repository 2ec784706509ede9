import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

// Does what the README says, word for word, in a fresh clone of the last commit, and says how many seconds each step took and how many megabytes the
// clone has after it, beside what is aimed at; then starts the built server with what is stored by then. Times fail nothing: machines differ. Idle memory
// does.   npm run test:readme

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'waymark-readme-'))
const clone = join(folder, 'waymark')
const imported = 50_000
const aims = { firstStartSeconds: 15, laterStartSeconds: 1.5, checkoutMb: 350 }
const promise = { idleMb: 250, starts: 5 }
const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
// The README's port may be somebody else's here.
const env = { ...process.env, ...quiet, WAYMARK_PORT: '0' }

const steps: { name: string; seconds: number; megabytes: number }[] = []
const megabytesOf = (path: string): number =>
  existsSync(path) ? Number(execFileSync('du', ['-sm', path], { encoding: 'utf8' }).split('\t')[0]) : 0
const aimText = (what: string, found: number, aim: number, unit: string) =>
  `    ${what}: ${found.toFixed(unit === 's' ? 1 : 0)} ${unit}, aim under ${aim} ${unit}${found < aim ? '' : ': MISSED'}`
async function step<T>(name: string, work: () => Promise<T> | T): Promise<T> {
  const begin = performance.now()
  const result = await work()
  const seconds = (performance.now() - begin) / 1000
  const megabytes = megabytesOf(clone)
  steps.push({ name, seconds, megabytes })
  console.log(`ok  ${seconds.toFixed(1).padStart(6)} s  ${String(megabytes).padStart(5)} MB  ${name}`)
  return result
}
const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message)
}
const shell = (command: string, cwd = clone): string =>
  execFileSync('bash', ['-c', command], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

interface Started {
  readonly process: ChildProcess
  readonly lines: readonly string[]
}
/** Until it has printed a line like this. */
async function start(command: string, args: readonly string[], last: RegExp): Promise<Started> {
  const child = spawn(command, args, { cwd: clone, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line)
    if (last.test(line)) return { process: child, lines }
  }
  throw new Error(`${command} ${args.join(' ')} ended: ${lines.join('\n')}`)
}
/** With everything it started. */
async function stop({ process: child }: Started): Promise<void> {
  const isThere = (): boolean => {
    try {
      return process.kill(-child.pid!, 0)
    } catch {
      return false
    }
  }
  process.kill(-child.pid!, 'SIGTERM')
  while (isThere()) await setTimeout(20) // npm may end before what it started
}

const blocksOf = (readme: string) =>
  [...readme.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({ language, text: text! }))

async function followReadme(): Promise<void> {
  await step('git clone', () => shell(`git clone --quiet ${JSON.stringify(`file://${root}`)} ${JSON.stringify(clone)}`, folder))
  const blocks = blocksOf(readFileSync(join(clone, 'README.md'), 'utf8'))
  const block = (language: string, about: string): string => {
    const found = blocks.find((one) => one.language === language && one.text.includes(about))
    must(found !== undefined, `README.md has no ${language} block with ${about}`)
    return found!.text
  }
  const commands = block('sh', 'npm start').split('\n')
  must(
    commands[0]!.startsWith('npm ci && npm start') && commands[1]!.startsWith('npm ci && npm test'),
    'the first block holds the two commands',
  )

  await step('npm ci', () => shell('npm ci --silent'))
  console.log(aimText('checkout', steps.at(-1)!.megabytes, aims.checkoutMb, 'MB'))
  const served = await step('npm start, until it serves', () => start('npm', ['start'], / import FILE /))
  console.log(aimText('first start', steps.at(-1)!.seconds, aims.firstStartSeconds, 's'))
  try {
    const fact = (name: string) =>
      new RegExp(`^${name}\\s+(\\S+)`).exec(served.lines.find((line) => line.startsWith(name)) ?? '')?.[1] ?? ''
    const [url, projectKey, personalKey] = [fact('Waymark'), fact('Project key'), fact('Personal key')]
    must([url, projectKey, personalKey].every(Boolean), `it printed no address or keys: ${served.lines.join('\n')}`)
    const filled = (text: string) =>
      text.replaceAll('http://127.0.0.1:8000', url).replaceAll('<PROJECT KEY>', projectKey).replaceAll('<PERSONAL KEY>', personalKey)
    const events = (): Record<string, number> =>
      Object.fromEntries((JSON.parse(shell(filled(block('sh', 'api/projects/1/query')))) as { results: [string, number][] }).results)

    const printed = served.lines.filter((line) => line.startsWith('  ')).map((line) => line.trim())
    must(printed.length === 3, `it printed ${printed.length} commands`)
    writeFileSync(
      join(clone, 'FILE'),
      `${JSON.stringify({ event: 'from a file', distinct_id: 'u3', timestamp: '2026-01-01T00:00:00Z' })}\n`,
    )
    await step('the three printed commands', () => {
      must(shell(printed[0]!).includes('"status":1'), 'the event was not taken')
      must(shell(printed[1]!).includes('["hello",1]'), 'the event was not found')
      must(shell(printed[2]!).includes('1 events of 1 rows'), 'the file was not imported')
    })
    await step('events from a client library', () => {
      writeFileSync(join(clone, 'client.mjs'), filled(block('js', 'posthog-node')))
      shell('node client.mjs')
    })
    await step('a query', () => {
      const found = events()
      for (const name of ['hello', 'from a file', 'signup', 'purchase']) must(found[name] === 1, `${name}: ${found[name]} events`)
    })
    await step('npm run build, which makes what npm install brings', () => {
      shell('npm run build --silent')
    })
    await step('embedding', () => {
      mkdirSync(join(clone, 'embedded'))
      writeFileSync(join(clone, 'embedded/example.mjs'), block('ts', "from 'waymark'"))
      must(shell('node example.mjs', join(clone, 'embedded')).trim() === '2', 'the example did not count two sign-ups')
    })
    await step(`an import of ${imported.toLocaleString('en')} events`, () => {
      const line = (i: number) =>
        JSON.stringify({
          event: 'imported',
          distinct_id: `u${i % 999}`,
          timestamp: new Date(1.7e12 + i * 1000).toISOString(),
          properties: { i },
        })
      writeFileSync(join(clone, 'export.jsonl.gz'), gzipSync(Array.from({ length: imported }, (_, i) => line(i)).join('\n')))
      shell(block('sh', 'waymark import'))
      must(events().imported === imported, `${events().imported} events were imported`)
    })
    await step('stopping', () => stop(served))
    const again = await step('npm start again, until it serves', () => start('npm', ['start'], / import FILE /))
    console.log(aimText('later start', steps.at(-1)!.seconds, aims.laterStartSeconds, 's'))
    await stop(again)
  } catch (error) {
    await stop(served).catch(() => undefined)
    throw error
  }
}

const residentMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** The command as it is installed: without npm in front. */
async function holdPromise(): Promise<void> {
  const times: number[] = []
  let idle = 0
  for (let i = 0; i < promise.starts; i++) {
    const begin = performance.now()
    const served = await start(process.execPath, ['dist/cli.js', 'serve', '--data', 'data', '--json'], /^\{/)
    const { url } = JSON.parse(served.lines[0]!) as { url: string }
    const ready = await fetch(`${url}/_readyz`)
    times.push(performance.now() - begin)
    must(ready.ok, `/_readyz answered ${ready.status}`)
    await setTimeout(3_000) // idle is what is left when nothing has been asked for a while
    idle = Math.max(idle, residentMb(served.process.pid!))
    await stop(served)
  }
  const ready = times.sort((a, b) => a - b)[times.length >> 1]!
  console.log(aimText('ready without npm', ready / 1000, aims.laterStartSeconds, 's'))
  console.log(`    idle: ${Math.round(idle)} MB, promised under ${promise.idleMb} MB`)
  must(idle < promise.idleMb, 'it takes too much memory')
}

try {
  await followReadme()
  await step('a built server with data, started and left idle five times', holdPromise)
} catch (error) {
  const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
  console.log(`FAIL  ${error instanceof Error ? error.message : String(error)}\n${stdout}${stderr}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`\n${steps.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(1)} s in all`)
