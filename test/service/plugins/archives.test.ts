import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutboundCalls } from '../../../src/service/accounts/outbound-calls.ts'
import { allowedAddresses } from '../../../src/service/network/allowed-addresses.ts'
import { createFetching } from '../../../src/service/plugins/archives/fetching.ts'
import { archiveLimits } from '../../../src/service/plugins/archives/limits.ts'
import { publicHosts, readOrigin } from '../../../src/service/plugins/archives/origin.ts'
import { archiveFiles } from '../../../src/service/plugins/archives/unpack.ts'
import { type Files, tgzOf, zipOf } from '../../harness/archives.ts'
import { helloWorld, type PluginHosts, startPluginHosts } from '../../harness/plugin-hosts.ts'

let hosts: PluginHosts
let folder: string
beforeAll(async () => {
  hosts = await startPluginHosts()
  folder = await mkdtemp(join(tmpdir(), 'plugins-'))
})
afterAll(async () => {
  await hosts.close()
  await rm(folder, { recursive: true, force: true })
})

/** Bytes that look random, and the same in every run. */
const noise = (size: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(size / 32) }, (_, i) => createHash('sha256').update(String(i)).digest())).subarray(0, size)
const long = `${'folder/'.repeat(30)}index.js`
const varied: Files = { 'a.txt': 'a', 'empty.txt': '', 'ü/ö.txt': 'grüße', 'noise.bin': noise(70_000), [long]: 'x'.repeat(10_000) }
const readAll = async (archive: Buffer, limits = archiveLimits) => {
  const files = await archiveFiles(archive, limits)
  return Object.fromEntries(await Promise.all(files.map(async ({ path, read }) => [path, Buffer.from(await read()).toString('latin1')])))
}
const expected = Object.fromEntries(Object.entries(varied).map(([path, one]) => [path, Buffer.from(one as string).toString('latin1')]))

describe('reading', () => {
  test.each([
    ['a ZIP with deflated files', zipOf(varied)],
    ['a ZIP with stored files', zipOf(varied, { isStored: true })],
    ['a gzipped tar', tgzOf(varied)],
  ])('%s', async (_, archive) => {
    expect(await readAll(archive)).toEqual(expected)
  })

  test('no byte of an archive can be changed or cut off unnoticed so that the reader breaks', async () => {
    for (const archive of [zipOf(varied), tgzOf(varied)])
      for (let at = 0; at < archive.length; at += 97) {
        const flipped = Buffer.from(archive)
        flipped[at] = flipped[at]! ^ 0x5a
        for (const one of [flipped, archive.subarray(0, at)])
          await readAll(one).catch((error: Error) => expect(error.name, `${at}: ${error.stack}`).toBe('ArchiveError'))
      }
  })

  test.each([
    ['a file that is larger than the archive says', zipOf({ a: 'x'.repeat(100_000) }, { stated: () => 10 }), 'not a valid ZIP'],
    ['a file that is too large', zipOf({ a: Buffer.alloc(5000) }), 'a has 5000 bytes. At most 4000'],
    ['a file of a tar that is too large', tgzOf({ a: Buffer.alloc(5000) }), 'a has 5000 bytes. At most 4000'],
    ['a tar that decompresses to too much', gzipSync(Buffer.alloc(1_000_000)), 'more than 20000 bytes after decompression'],
    ['too many files', zipOf(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`${i}`, '']))), 'has 11 files'],
    ['another format', Buffer.from('Rar!'), 'Expected a ZIP or a gzipped tar archive.'],
  ])('%s is refused', async (_, archive, message) => {
    const limits = { ...archiveLimits, fileBytes: 4000, unpackedBytes: 20_000, files: 10 }
    await expect(readAll(archive, limits)).rejects.toThrow(message)
  })
})

describe('URLs', () => {
  const archiveOf = (url: string) => {
    const origin = readOrigin(url, publicHosts)
    return origin && [origin.url, origin.newest?.url ?? `= ${origin.fixed}`, origin.archive(origin.fixed ?? 'T').url]
  }
  test.each([
    [
      'https://github.com/acme/hello',
      [
        'https://github.com/acme/hello',
        'https://api.github.com/repos/acme/hello/commits?per_page=1',
        'https://github.com/acme/hello/archive/T.zip',
      ],
    ],
    [
      'https://github.com/acme/hello.git/?private_token=s',
      [
        'https://github.com/acme/hello.git',
        'https://api.github.com/repos/acme/hello/commits?per_page=1',
        'https://github.com/acme/hello/archive/T.zip',
      ],
    ],
    [
      'https://github.com/acme/hello/tree/a/b',
      [
        'https://github.com/acme/hello/tree/a/b',
        'https://api.github.com/repos/acme/hello/commits?per_page=1&sha=a%2Fb',
        'https://github.com/acme/hello/archive/T.zip',
      ],
    ],
    [
      'https://github.com/acme/hello/commit/f00',
      ['https://github.com/acme/hello/commit/f00', '= f00', 'https://github.com/acme/hello/archive/f00.zip'],
    ],
    [
      'https://gitlab.com/acme/group/hello/-/tree/main',
      [
        'https://gitlab.com/acme/group/hello/-/tree/main',
        'https://gitlab.com/api/v4/projects/acme%2Fgroup%2Fhello/repository/commits?per_page=1&ref_name=main',
        'https://gitlab.com/api/v4/projects/acme%2Fgroup%2Fhello/repository/archive.zip?sha=T',
      ],
    ],
    [
      'https://www.npmjs.com/package/@acme/hello',
      [
        'https://www.npmjs.com/package/@acme/hello',
        'https://registry.npmjs.org/@acme%2Fhello/latest',
        'https://registry.npmjs.org/@acme/hello/-/hello-T.tgz',
      ],
    ],
    [
      'https://www.npmjs.com/package/hello/v/1.2.3',
      ['https://www.npmjs.com/package/hello/v/1.2.3', '= 1.2.3', 'https://registry.npmjs.org/hello/-/hello-1.2.3.tgz'],
    ],
    ['https://github.com/acme', null],
    ['https://github.com/acme/..', null],
    ['https://github.com/acme/hello/issues', null],
    ['https://gitlab.com/hello', null],
    ['https://www.npmjs.com/hello', null],
    ['https://github.com.evil.example/acme/hello', null],
    ['http://169.254.169.254/latest', null],
    ['file:///etc', null],
    ['hello', null],
  ])('%s', (url, wanted) => {
    expect(archiveOf(url)).toEqual(wanted)
  })
})

describe('fetching', () => {
  const fetching = (given: { limits?: object; isPrivate?: boolean; localFolder?: string | null } = {}) =>
    createFetching({
      network: allowedAddresses(() => given.isPrivate ?? true),
      outbound: createOutboundCalls(),
      hosts: hosts.hosts,
      localFolder: given.localFolder ?? null,
      ...(given.limits && { limits: given.limits }),
    })
  const fetch = (url: string, given = {}) => {
    const one = fetching(given)
    return one.fetch('org', one.originOf(url))
  }

  test.each(['https://github.com/acme/hello', 'https://gitlab.com/acme/hello', 'https://www.npmjs.com/package/@acme/hello'])(
    'the newest version of %s',
    async (url) => {
      expect(await fetch(url)).toMatchObject({
        tag: 'f00ba12',
        manifest: { name: 'helloworldplugin' },
        source: { 'plugin.json': helloWorld['plugin.json'], 'index.ts': helloWorld['index.js'] },
      })
    },
  )

  test('a token goes to the host, and not to where the host redirects', async () => {
    hosts.requests.length = 0
    const archive = '/github/acme/private/archive/f00ba12.zip'
    const elsewhere = hosts.url.replace('127.0.0.1', 'localhost')
    hosts.answers.set(archive, { status: 302, headers: { location: `${elsewhere}/github/acme/other/archive/f00ba12.zip` } })
    await fetch('https://github.com/acme/private?private_token=secret')
    expect(hosts.requests.map(({ path, headers }) => [path.split('?')[0], headers.authorization])).toEqual([
      ['/github-api/repos/acme/private/commits', 'Bearer secret'],
      [archive, 'Bearer secret'],
      ['/github/acme/other/archive/f00ba12.zip', undefined],
    ])
  })

  test.each([
    ['without plugin.json', { 'index.js': '' }, 'Could not find plugin.json in the plugin'],
    ['with an invalid plugin.json', { 'plugin.json': '{' }, 'plugin.json is not valid JSON'],
    ['with a wrong plugin.json', { 'plugin.json': '{"name":"a","config":[{"key":"k","type":"date"}]}' }, 'A field has one of the types'],
    ['without code', { 'plugin.json': '{"name":"a"}' }, 'The archive has no code'],
    ['without its main file', { 'plugin.json': '{"name":"a","main":"dist/a.js"}', 'index.js': '' }, 'the main file dist/a.js'],
    ['with code that is not text', { 'plugin.json': '{"name":"a"}', 'index.js': Buffer.from([0xff, 0xfe]) }, 'index.js is not valid UTF-8'],
  ])('an archive %s is refused', async (name, files, message) => {
    hosts.files.set('acme/bad', files)
    await expect(fetch('https://github.com/acme/bad'), name).rejects.toMatchObject({
      code: 'invalid-value',
      data: { attr: 'url', message: expect.stringContaining(message) },
    })
  })

  test('a host that refuses, redirects for ever, or sends too much', async () => {
    const commits = '/github-api/repos/acme/odd/commits'
    hosts.answers.set(commits, { status: 404 })
    await expect(fetch('https://github.com/acme/odd')).rejects.toThrow('answered 404: there is no such repository')
    hosts.answers.set(commits, { status: 302, headers: { location: commits } })
    await expect(fetch('https://github.com/acme/odd')).rejects.toThrow('redirects more than 5 times')
    hosts.answers.set(commits, { status: 200, body: '<html>' })
    await expect(fetch('https://github.com/acme/odd')).rejects.toThrow('something that is not JSON')
    hosts.answers.set(commits, { status: 200, body: '[]' })
    await expect(fetch('https://github.com/acme/odd')).rejects.toThrow('has no commits and no versions')
    hosts.answers.set(commits, { status: 200, body: 'x'.repeat(2000) })
    await expect(fetch('https://github.com/acme/odd', { limits: { archiveBytes: 1000 } })).rejects.toThrow('more than 1000 bytes')
    hosts.answers.set(commits, { status: 302, headers: { location: 'http://169.254.169.254/latest' } })
    await expect(fetch('https://github.com/acme/odd')).rejects.toMatchObject({ code: 'private-address' })
    await expect(fetch('https://github.com/acme/hello', { isPrivate: false })).rejects.toMatchObject({ code: 'private-address' })
  })

  test('local plugins are in the folder of the operator, and nowhere else', async () => {
    const [own, outside] = [join(folder, 'allowed', 'hello'), join(folder, 'outside')]
    for (const path of [own, outside]) {
      await mkdir(path, { recursive: true })
      await writeFile(join(path, 'plugin.json'), '{"name":"local"}')
      await writeFile(join(path, 'index.js'), 'x')
    }
    await symlink(outside, join(folder, 'allowed', 'link'))
    const linked = join(folder, 'allowed', 'linked')
    await mkdir(linked)
    await writeFile(join(linked, 'plugin.json'), '{"name":"local"}')
    await symlink(join(outside, 'index.js'), join(linked, 'index.js'))
    const read = (path: string, localFolder: string | null = join(folder, 'allowed')) => fetching({ localFolder }).readLocal(path)
    const url = (path: string) => pathToFileURL(path).href
    expect(await read(url(own))).toMatchObject({ tag: null, manifest: { name: 'local' }, source: { 'index.ts': 'x' } })
    await expect(read(url(own), null)).rejects.toThrow('no folder for local plugins')
    await expect(read(url(outside))).rejects.toThrow('that the operator of the server allows')
    await expect(read(url(join(folder, 'allowed', 'link')))).rejects.toThrow('that the operator of the server allows')
    await expect(read(url(linked))).rejects.toThrow('is not in the folder of the plugin')
    await expect(read(url(join(folder, 'none')))).rejects.toThrow('Expected the URL of a folder')
    await expect(read('hello')).rejects.toThrow('Expected the URL of a folder')
  })
})
