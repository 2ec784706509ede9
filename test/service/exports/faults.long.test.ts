import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type OpenOptions, open } from '../../../src/engine.ts'
import { startReceiver } from './receiver.ts'

// Destinations that refuse, are missing or are full, with real rows: what the run says, and that it succeeds once the cause is gone.

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'waymark-faults-'))
  folders.push(made)
  return made
}

async function withExport(
  destination: { type: string; config: object },
  work: (given: { run(): Promise<{ status: string; latest_error: string | null }>; dataDir: string }) => Promise<void>,
  { dataDir = destination.type === 'HTTP' ? ':memory:' : folder(), ...options }: Partial<OpenOptions> = {},
) {
  let now = new Date('2026-03-02T10:30:00Z')
  const waymark = await open({ dataDir, threads: 1, clock: () => now, ...options, exports: { ...options.exports, runs: false } })
  try {
    const { user, organization, project } = await waymark.accounts.firstStart({ makesKey: false })
    const membership = (await waymark.accounts.organizations.membership(organization.id, user))!
    const { service, scheduler } = waymark.exports
    const record = await service.create({ user, membership }, project, { name: 'x', destination, interval: 'hour' })
    await scheduler.tick()
    const batch = Array.from({ length: 30 }, (_, i) => ({
      event: 'a',
      distinct_id: `u${i}`,
      properties: { pad: `${Math.random()}`.repeat(20) },
    }))
    await (await waymark.project(project.id)).ingest({ batch })
    const run = async () => {
      now = new Date(now.getTime() + 3_600_000)
      for (let i = 0; i < 3; i++) {
        await scheduler.tick()
        await scheduler.settled()
      }
      const [first] = [...(await service.runs(record))].sort((a, b) => (a.id < b.id ? -1 : 1))
      return first!
    }
    await work({ run, dataDir })
  } finally {
    await waymark.close()
  }
}

describe('HTTP', () => {
  const to = (url: string) => ({ type: 'HTTP', config: { url, token: 'secret' } })

  test('a server that is not there', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    await withExport(to(`http://127.0.0.1:${port}/`), async ({ run }) => {
      expect(await run()).toMatchObject({
        status: 'Starting',
        latest_error: expect.stringContaining(`127.0.0.1:${port} refused the connection.`),
      })
    })
  })

  test.each([
    [401, 'Failed', 'it refuses the signature. Check the token.'],
    [302, 'Failed', 'redirects are not followed.'],
    [404, 'Failed', 'nothing is at this address.'],
    [413, 'Failed', 'the request is too large for it.'],
    [429, 'Starting', 'it limits the rate of requests.'],
    [500, 'Starting', 'it failed.'],
    [0, 'Starting', 'closed the connection before it had answered.'],
  ])('a server that answers %s, then takes everything', async (answer, status, text) => {
    const receiver = await startReceiver()
    try {
      receiver.answer = () => answer
      await withExport(to(receiver.url), async ({ run }) => {
        expect(await run()).toMatchObject({ status, latest_error: expect.stringContaining(text) })
        receiver.answer = () => 200
        if (status === 'Starting') expect(await run()).toMatchObject({ status: 'Completed', records_completed: 30 })
      })
    } finally {
      await receiver.close()
    }
  })

  test('a server that repeats the token in its answer: it is not shown', async () => {
    const echo = createHttpServer((_, response) => {
      response.writeHead(400)
      response.end('wrong key hush-hush, not hush-hush2')
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = echo.address() as { port: number }
      const destination = { type: 'HTTP', config: { url: `http://127.0.0.1:${port}/`, token: 'hush-hush' } }
      await withExport(destination, async ({ run }) => {
        expect((await run()).latest_error).toContain('It said: wrong key <token>, not <token>2')
      })
    } finally {
      echo.close()
    }
  })

  test('a server that dies in the middle gets all rows again, and the summary counts them once', async () => {
    const receiver = await startReceiver()
    try {
      let requests = 0
      receiver.answer = () => (++requests === 1 ? 200 : 0)
      await withExport(to(receiver.url), async ({ run }) => {
        expect(await run()).toMatchObject({ status: 'Starting' })
        receiver.answer = () => 200
        expect(await run()).toMatchObject({ status: 'Completed' })
        expect(new Set(receiver.runs[0]!.rows.map(({ uuid }) => uuid)).size).toBe(30)
        expect(receiver.runs[0]!.rows).toHaveLength(30)
      })
    } finally {
      await receiver.close()
    }
  })

  test.each(['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'http://169.254.169.254/latest', 'http://0.0.0.0:9/'])(
    'a hosted server does not connect to %s',
    async (url) => {
      const never = async () => expect.unreachable('the address is refused when it is saved')
      await expect(withExport(to(url), never, { exports: { allowsPrivateAddresses: false } })).rejects.toThrow(/is in a private network/)
    },
  )

  test('addresses of one link are refused on every server', async () => {
    const never = async () => expect.unreachable('the address is refused when it is saved')
    await expect(withExport(to('http://169.254.169.254/latest'), never)).rejects.toThrow(/169\.254\.169\.254/)
  })
})

describe('local files', () => {
  const to = (config: object = {}) => ({ type: 'LocalFiles', config })

  test('a folder that is a file', async () => {
    const dataDir = folder()
    writeFileSync(join(dataDir, 'taken'), '')
    const options = { dataDir, exports: { folder: join(dataDir, 'taken') } }
    await withExport(
      to(),
      async ({ run }) => {
        expect(await run()).toMatchObject({ status: 'Failed', latest_error: expect.stringContaining('is a file, not a folder') })
      },
      options,
    )
  })

  test('files of another export are never replaced', async () => {
    await withExport(to(), async ({ run, dataDir }) => {
      const name = '2026-03-02T10:00:00+00:00-2026-03-02T11:00:00+00:00'
      const others = { [`${name}.manifest.json`]: JSON.stringify({ export_id: 'other', files: [] }), [`${name}.jsonl`]: 'theirs\n' }
      mkdirSync(join(dataDir, 'exports'))
      for (const [file, content] of Object.entries(others)) writeFileSync(join(dataDir, 'exports', file), content)
      const latest_error = `${name} already exists and belongs to another export. Choose another prefix for one of them, such as one with {table}.`
      expect(await run()).toMatchObject({ status: 'Failed', latest_error })
      expect(
        readdirSync(join(dataDir, 'exports'))
          .filter((file) => file.startsWith(name) || file.startsWith('.'))
          .sort(),
      ).toEqual(Object.keys(others).sort())
      for (const [file, content] of Object.entries(others)) expect(readFileSync(join(dataDir, 'exports', file), 'utf8')).toBe(content)
    })
  })

  test('an unfinished file of another attempt is removed, and other files stay', async () => {
    await withExport(to({ file_format: 'Parquet' }), async ({ run, dataDir }) => {
      mkdirSync(join(dataDir, 'exports'))
      writeFileSync(join(dataDir, 'exports', 'mine.parquet'), '')
      expect(await run()).toMatchObject({ status: 'Completed' })
      expect(readdirSync(join(dataDir, 'exports')).sort()).toEqual([
        '2026-03-02T10:00:00+00:00-2026-03-02T11:00:00+00:00.manifest.json',
        '2026-03-02T10:00:00+00:00-2026-03-02T11:00:00+00:00.parquet',
        'mine.parquet',
      ])
    })
  })

  const mountPoint = mkdtempSync(join(tmpdir(), 'waymark-full-export-'))
  const isMounted = process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountPoint]).status === 0
  if (!isMounted) console.warn('NOT RUN: exports to a really full disk. It takes the right to mount a tmpfs (root on Linux).')
  afterAll(() => {
    if (isMounted) spawnSync('umount', ['-l', mountPoint])
    rmSync(mountPoint, { recursive: true, force: true })
  })

  test.skipIf(!isMounted)('a full disk is retried until there is space, and nothing unfinished stays', async () => {
    const ballast = join(mountPoint, 'ballast')
    writeFileSync(ballast, Buffer.alloc(statfsSync(mountPoint).bavail * statfsSync(mountPoint).bsize))
    await withExport(
      to({ compression: 'gzip' }),
      async ({ run }) => {
        expect(await run()).toMatchObject({
          status: 'Starting',
          latest_error: expect.stringContaining('The disk is full. Free some space'),
        })
        expect(readdirSync(mountPoint)).toEqual(['ballast'])
        rmSync(ballast)
        expect(await run()).toMatchObject({ status: 'Completed' })
      },
      { exports: { folder: mountPoint } },
    )
  })
})
