import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { events, fingerprint, projectOf } from './directory.ts'
import type { Built } from './processes.ts'

// What can be wrong around a directory that is as a killed process leaves it.

type Check = (built: Built, dataDir: string) => Promise<void>

const nobody = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const count = async (built: Built, dataDir: string) =>
  built.command(['query', 'select count() from events', '--data', dataDir, '--project', '1', '--format', 'csv']).ended
const mustCount = async (built: Built, dataDir: string, wanted: number) => {
  const { code, out, err } = await count(built, dataDir)
  assert.deepEqual([code, out], [0, `count()\n${wanted}\n`], err)
}

/** Skipped, and said so, where this user may not mount. */
const mounted = async (args: readonly string[], at: string, work: () => Promise<void>) => {
  mkdirSync(at, { recursive: true })
  if (spawnSync('mount', [...args, at]).status !== 0) return console.log('NOT RUN: it takes the right to mount (root on Linux).')
  try {
    await work()
  } finally {
    spawnSync('umount', ['-l', at])
  }
}

export const surroundings: Readonly<Record<string, Check>> = {
  'a file system that is read-only: doctor reads it, nothing else opens it': (built, dataDir) =>
    mounted(['--bind', '-o', 'ro', dataDir], `${dataDir}.mounted`, async () => {
      const at = `${dataDir}.mounted`
      if (spawnSync('mount', ['-o', 'remount,ro,bind', at]).status !== 0) return console.log('NOT RUN: no read-only mount here.')
      const before = fingerprint(at)
      const doctor = await built.command(['doctor', '--data', at]).ended
      assert.equal(doctor.code, 0, doctor.err)
      assert.match(doctor.out, /60 events/)
      for (const args of [['query', 'select 1', '--project', '1'], ['serve', '--port', '0'], ['init']]) {
        const { code, err } = await built.command([...args, '--data', at]).ended
        assert.deepEqual([code, err], [1, `waymark: ${at} cannot be used: the file system is read-only.\n`])
      }
      assert.deepEqual(fingerprint(at), before)
    }),

  'a disk that is full: refused with the reason, and whole when there is room again': (built, dataDir) =>
    mounted(['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs'], `${dataDir}.mounted`, async () => {
      const at = join(`${dataDir}.mounted`, 'data')
      cpSync(dataDir, at, { recursive: true })
      const ballast = join(`${dataDir}.mounted`, 'ballast')
      const { bavail, bsize } = statfsSync(`${dataDir}.mounted`)
      writeFileSync(ballast, Buffer.alloc(bavail * bsize))
      const contents = () =>
        Object.entries(fingerprint(projectOf(at))).flatMap(([name, found]) => (/arrow|store/.test(name) ? [[name, found.slice(4)]] : []))
      const before = contents()
      const doctor = await built.command(['doctor', '--data', at]).ended
      assert.equal(doctor.code, 0, doctor.err)
      const { code, err } = await count(built, at)
      assert.equal(code, 1)
      assert.match(err, /the disk is full|No space left/)
      assert.deepEqual(contents(), before)
      rmSync(ballast)
      await mustCount(built, at, events.all)
    }),

  'a store that this user may not write is refused, not set aside': async (built, dataDir) => {
    if (!isRoot) return console.log('NOT RUN: it takes another user (root on Linux).')
    const store = join(projectOf(dataDir), 'store.duckdb')
    spawnSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, dataDir])
    spawnSync('chown', ['root:root', store])
    for (const folder of [join(dataDir, '..'), dataDir]) chmodSync(folder, 0o755)
    const { code, err } = await built.command(['query', 'select 1', '--data', dataDir, '--project', '1', '--recovery', 'partial'], nobody)
      .ended
    assert.equal(code, 1)
    assert.match(err, /store\.duckdb.*Permission denied/)
    assert.deepEqual(
      readdirSync(projectOf(dataDir)).filter((name) => name.includes('broken')),
      [],
    )
    spawnSync('chown', [`${nobody.uid}:${nobody.gid}`, store])
    const asked = await built.command(
      ['query', 'select count() from events', '--data', dataDir, '--project', '1', '--format', 'csv'],
      nobody,
    ).ended
    assert.deepEqual([asked.code, asked.out], [0, `count()\n${events.all}\n`], asked.err)
  },

  'everything a command makes is private': async (built, dataDir) => {
    spawnSync('chmod', ['-R', 'a+rX', dataDir])
    const server = built.command(['serve', '--data', dataDir, '--port', '0', '--json'])
    const { url } = JSON.parse(await server.firstLine()) as { url: string }
    const headers = { authorization: 'Bearer phx_damage', 'content-type': 'application/json' }
    const body = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select count() from events' } })
    assert.equal((await fetch(`${url}/api/projects/1/query/`, { method: 'POST', headers, body })).status, 200)
    const open = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0,
    )
    assert.deepEqual(open, [])
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  },

  'a client that never finishes its request is cut off when the server stops': async (built, dataDir) => {
    const server = built.command(['serve', '--data', dataDir, '--port', '0', '--json', '--drain-seconds', '1'])
    const { url } = JSON.parse(await server.firstLine()) as { url: string }
    const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
    client.write('POST /batch/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{')
    await fetch(`${url}/_livez`)
    const began = performance.now()
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    assert.ok(performance.now() - began < 11_000)
  },

  'a statement that does not end: the server ends with 1 at its limit and says what is open': async (built, dataDir) => {
    const server = built.command(['serve', '--data', dataDir, '--port', '0', '--json', '--drain-seconds', '1', '--stop-seconds', '2'])
    const { url } = JSON.parse(await server.firstLine()) as { url: string }
    const secret = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')).secret
    const heavy = 'select count() from numbers(100000000000) where cityHash64(number) % 7 = 3'
    const asked = fetch(`${url}/_local/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project: 1, query: { kind: 'SqlLikeQuery', query: heavy } }),
    }).catch(() => null)
    await setTimeout(1_500)
    const began = performance.now()
    server.child.kill('SIGTERM')
    const { code, err } = await server.ended
    await asked
    assert.ok(performance.now() - began < 15_000)
    assert.ok(code === 1 || code === 0, err)
    if (code === 1) assert.match(err, /shutdown did not finish within 2 seconds of the signal","still_open":\[/)
    await mustCount(built, dataDir, events.all)
  },

  'killed again and again while it opens: everything is there in the end': async (built, dataDir) => {
    for (let round = 0; round < 12; round++) {
      const { child, ended } = built.command(['query', 'select count() from events', '--data', dataDir, '--project', '1'])
      await setTimeout(100 + round * 60)
      child.kill('SIGKILL')
      await ended
    }
    await mustCount(built, dataDir, events.all)
  },
}
