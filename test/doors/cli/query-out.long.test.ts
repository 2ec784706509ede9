import type { ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finish, firstLine, type Result, run, start } from './shell.ts'

// `waymark query --out`: all rows into a file, from the directory itself and through the server that owns it.

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-out-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const many = "select number, repeat('x', 20) as text from numbers(25000)"
const late = "select number, repeat('x', 100) as text, throwIf(number = 200000) from numbers(250000)"

describe.each(['the directory itself', 'its server'])('%s', (name) => {
  let data: string
  let server: { readonly process: ChildProcess; readonly ended: Promise<Result> } | null = null
  beforeAll(async () => {
    data = join(folder, name.replaceAll(' ', '-'))
    await run(['init', '--data', data])
    await writeFile(
      join(folder, 'event.jsonl'),
      JSON.stringify({ event: 'a', distinct_id: 'u', timestamp: '2026-01-01T00:00:00Z', properties: { price: 'dear' } }),
    )
    await run(['import', join(folder, 'event.jsonl'), '--data', data, '--project', '1'])
    if (name === 'the directory itself') return
    const process = start(['serve', '--data', data, '--port', '0', '--json'])
    server = { process, ended: finish(process) }
    await firstLine(process)
  })
  afterAll(async () => {
    server?.process.kill('SIGTERM')
    expect((await server?.ended)?.code ?? 0).toBe(0)
  })
  const out = (file: string) => join(data, '..', `${name}-${file}`)
  const query = (sql: string, ...more: string[]) => run(['query', '--data', data, '--project', '1', ...more, sql])
  const leftovers = async () => (await readdir(folder)).filter((one) => one.includes('.part'))

  test('every format has all rows', async () => {
    const written = async (format: string) => {
      const file = out(`rows.${format}`)
      const { code, out: said, err } = await query(many, '--format', format, '--out', file)
      const bytes = await readFile(file)
      expect([code, said, err]).toEqual([0, `Wrote ${file}: ${bytes.length.toLocaleString('en')} bytes.\n`, ''])
      return bytes
    }
    const csv = (await written('csv')).toString().split('\r\n')
    expect([csv.length, csv[0], csv[25_000]]).toEqual([25_002, 'number,text', `24999,${'x'.repeat(20)}`])
    const lines = (await written('jsonl')).toString().split('\n')
    expect([lines.length, JSON.parse(lines[24_999]!).number]).toEqual([25_001, 24_999])
    expect(tableFromIPC(await written('arrow')).numRows).toBe(25_000)
    expect((await written('parquet')).subarray(0, 4).toString()).toBe('PAR1')
    expect(await leftovers()).toEqual([])
  })

  test('a file is complete or not there, and keeps what it had', async () => {
    const file = out('late.csv')
    expect((await query('select 1 as one', '--format', 'csv', '--out', file)).code).toBe(0)
    const failed = await query(late, '--format', 'csv', '--out', file)
    expect([failed.code, failed.err]).toEqual([1, expect.stringMatching(/^waymark: .*(not zero|Its log has the reason)/)])
    expect(await readFile(file, 'utf8')).toBe('one\r\n1\r\n')
    expect(await query('select nonsense from events', '--format', 'parquet', '--out', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('nonsense'),
    })
    expect(await leftovers()).toEqual([])
  })

  test('a warning is said, and what cannot be written', async () => {
    const warned = await query('select sum(properties.price) from events', '--format', 'jsonl', '--out', out('warned.jsonl'))
    expect(warned.err).toMatch(/^Warning: .*"price"/)
    const missing = await query(many, '--format', 'csv', '--out', join(folder, 'no', 'such.csv'))
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('its folder does not exist')])
  })

  test('- is the output; a reader that leaves ends the command with a message', async () => {
    const whole = start(['query', '--data', data, '--project', '1', '--format', 'jsonl', '--out', '-', many])
    const { code, out: said } = await finish(whole)
    expect([code, said.split('\n').length]).toEqual([0, 25_001])
    const cut = start(['query', '--data', data, '--project', '1', '--format', 'csv', '--out', '-', many.replace('25000', '100000000')])
    const errors = finish(cut)
    await once(cut.stdout!, 'data')
    cut.stdout!.destroy()
    expect(await errors).toMatchObject({ code: 1, err: expect.stringContaining('The reader closed the output') })
  })

  test('an interrupted command leaves no file', async () => {
    const file = out('endless.csv')
    const child = start([
      'query',
      '--data',
      data,
      '--project',
      '1',
      '--format',
      'csv',
      '--out',
      file,
      many.replace('25000', '1000000000000'),
    ])
    const ended = finish(child)
    await expect.poll(leftovers).toHaveLength(1)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 1, err: expect.stringContaining(`Interrupted. ${file} was not written.`) })
    expect(await leftovers()).toEqual([])
  })
})

test('wrong use', async () => {
  const wrong = async (...args: string[]) => (await run(['query', '--data', folder, '--project', '1', ...args, 'select 1'])).err
  expect(await wrong('--format', 'parquet')).toMatch(/--format parquet needs --out FILE/)
  expect(await wrong('--format', 'table', '--out', 'x')).toMatch(
    /--out needs --format csv, jsonl, parquet, arrow, spreadsheet, but got table/,
  )
})

const disk = () => join(folder, 'disk')
const mount = async () => {
  await mkdir(disk())
  return process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk()]).status === 0
}
test('a full disk', async (context) => {
  if (!(await mount())) {
    console.warn('NOT RUN: a download to a really full disk. It takes the right to mount a tmpfs (root on Linux).')
    return context.skip()
  }
  try {
    const data = join(folder, 'full')
    await run(['init', '--data', data])
    const file = join(disk(), 'rows.csv')
    const { code, err } = await run([
      'query',
      '--data',
      data,
      '--project',
      '1',
      '--format',
      'csv',
      '--out',
      file,
      many.replace('25000', '200000'),
    ])
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^waymark: Cannot write .*rows\.csv: the disk is full\. [\d,]+ bytes were written and removed again\.\n$/),
    ])
    expect(await readdir(disk())).toEqual([])
  } finally {
    spawnSync('umount', ['-l', disk()])
  }
})
