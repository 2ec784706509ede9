import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { createClient, open } from 'waymark'

test('a request for deletion is answered by the lines of docs/embedding.md', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-docs-'))
  await using waymark = await open({ dataDir: ':memory:' })
  const shop = await waymark.createProject({ name: 'Shop' })
  await shop.ingest({ batch: [{ event: 'signup', distinct_id: 'user-7' }] })
  const answered = async () => {
    const client = createClient(waymark)
    const project = await waymark.project('Shop')
    await pipeline(await client.persons.everything(project, 'user-7'), createWriteStream(join(folder, 'user-7.jsonl')))
    await client.persons.remove(project, 'user-7', { events: true })
    const { count } = await client.persons.list(project, { distinct_id: 'user-7' })
    return count
  }
  expect(await answered()).toBe(0)
  expect((await readFile(join(folder, 'user-7.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(3)
  await rm(folder, { recursive: true })
  // The lines above, as the page has them.
  const [, example] = /```ts\n\/\/ a request for deletion\n([\s\S]*?)```/.exec(
    await readFile(join(import.meta.dirname, '../../docs/embedding.md'), 'utf8'),
  )!
  const lines = example!
    .trim()
    .replace(/ \/\/ .*/g, '')
    .replace("createWriteStream('user-7.jsonl')", "createWriteStream(join(folder, 'user-7.jsonl'))")
  const own = (await readFile(import.meta.filename, 'utf8')).replace(/^ +/gm, '')
  expect(own).toContain(lines)
})
