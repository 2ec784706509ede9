import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { withKnownIds } from '../../../../../src/events/ingestion/persons/known/knowing-writer.ts'
import { PersonFile } from '../../../../../src/events/ingestion/persons/known/person-file.ts'
import type { EventWriter, FoundPerson, StagedGroup } from '../../../../../src/events/ingestion/ports.ts'
import { nameUuid } from '../../../../../src/lib/ids/name-uuid.ts'
import { MemoryShare } from '../../../../../src/lib/memory/memory-share.ts'
import { assertGenerated } from '../../../../harness/assert-generated.ts'
import { NaiveStore } from './naive-store.ts'

const root = mkdtempSync(join(tmpdir(), 'waymark-known-'))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => join(root, String(folders++))

const copyOf = (folder: string): string => {
  const copy = newFolder()
  if (existsSync(folder)) cpSync(folder, copy, { recursive: true })
  return copy
}

const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const noSlots = { event: [], person: [] }

/** Persons as ingestion knows them, which it changes within its rules. */
class People {
  private nextNo = 1
  private nextId = 1
  seq = 0
  readonly ids = new Map<number, string[]>()
  readonly merged = new Map<number, number[]>()
  readonly everyId: string[] = []
  private changed = new Map<number, number>()
  // Of the group: with the numbers that they have at its end, as ingestion stages them.
  private newIds: { readonly id: string; readonly no: number; readonly seq: number }[] = []
  private goneInto = new Map<number, number>()

  constructor(private readonly random: (below: number) => number) {}

  private any(): number {
    return [...this.ids.keys()][this.random(this.ids.size)]!
  }

  private current(no: number): number {
    const next = this.goneInto.get(no)
    return next === undefined ? no : this.current(next)
  }

  private idFor(no: number): void {
    const id = `somebody ${this.nextId++} ${'é'.repeat(this.random(12))}`
    this.everyId.push(id)
    this.ids.get(no)!.push(id)
    this.newIds.push({ id, no, seq: this.seq })
  }

  /** One step of a group. */
  step(group: StagedGroup): void {
    this.seq++
    const kind = this.ids.size < 2 ? 0 : this.random(12)
    if (kind < 5) {
      const no = this.nextNo++
      this.ids.set(no, [])
      this.merged.set(no, [])
      this.idFor(no)
      this.changed.set(no, this.seq)
    } else if (kind < 7) this.idFor(this.any())
    else if (kind < 9) this.changed.set(this.any(), this.seq)
    else if (kind < 11) this.merge(group)
    else this.changed.set(this.any(), this.seq)
  }

  private merge(group: StagedGroup): void {
    const [source, target] = [this.any(), this.any()]
    if (source === target) return
    this.goneInto.set(source, target)
    group.put(
      'merge_journal',
      { seq: this.seq, merged_at: 0, merged: source, merged_uuid: '', survivor: target, survivor_uuid: '', event_uuid: null, event: null },
      true,
    )
    this.ids.get(target)!.push(...this.ids.get(source)!)
    this.merged.get(target)!.push(source, ...this.merged.get(source)!)
    this.ids.delete(source)
    this.changed.delete(source)
    this.changed.set(target, this.seq)
  }

  /** The one step of its group: what past merges and users do. */
  otherStep(group: StagedGroup): void {
    this.seq++
    const no = this.any()
    const numbers = [no, ...this.merged.get(no)!]
    const ids = this.ids.get(no)!
    switch (this.random(3)) {
      case 0: {
        // Decided anew: some of the numbers are persons of their own.
        const apart = numbers.filter(() => this.random(2) === 0)
        const rest = numbers.filter((one) => !apart.includes(one))
        for (const part of [...apart.map((one) => [one]), rest]) {
          const [first] = part
          if (first === undefined) continue
          for (const one of part) group.rewrite(one, first)
          this.merged.set(first, part.slice(1))
          this.ids.set(first, [])
          this.changed.set(first, this.seq)
        }
        if (rest[0] !== no && !apart.includes(no)) this.ids.delete(no)
        const first = [...apart, ...rest.slice(0, 1)]
        for (const id of ids) {
          const own = first[this.random(first.length)]!
          group.moveId(id, own)
          this.ids.get(own)!.push(id)
        }
        break
      }
      case 1: {
        const leaving = ids.splice(0, 1 + this.random(ids.length))
        group.removePeople([], false)
        group.removeIds(leaving)
        this.changed.set(no, this.seq)
        break
      }
      default:
        group.removeIds(ids)
        group.removePeople(numbers, true)
        this.ids.delete(no)
        this.merged.delete(no)
    }
  }

  touch(): void {
    this.changed.set(this.any(), ++this.seq)
  }

  async commit(group: StagedGroup): Promise<void> {
    for (const [no, seq] of this.changed)
      group.put(
        'persons',
        {
          person_no: no,
          uuid: nameUuid(namespace, `${no} ${seq}`),
          has_record: this.random(3) > 0,
          created_at: this.random(2 ** 30) * 1e6 + 1,
          is_identified: this.random(2) === 0,
          version: this.random(9),
          updated_at: -seq,
          properties: 'ä'.repeat(this.random(2) === 0 ? this.random(50) : this.random(3_000)),
          property_times: 'x'.repeat(this.random(2) === 0 ? 0 : this.random(200)),
          imported_at: this.random(3) === 0 ? seq : null,
          changed_seq: seq,
        },
        false,
      )
    for (const { id, no, seq } of this.newIds)
      group.put('distinct_ids', { distinct_id: id, person_no: this.current(no), added_seq: seq }, true)
    for (const no of this.goneInto.keys()) group.merge(no, this.current(no))
    this.changed.clear()
    this.newIds = []
    this.goneInto.clear()
    group.setMeta('applied_seq', String(this.seq))
    await group.commit(noSlots)
  }
}

interface World {
  readonly store: NaiveStore
  folder: string
  writer: EventWriter
  readonly memory: MemoryShare
  readonly mostInMemory: number
  readonly errors: unknown[]
}

const opened = async (world: Omit<World, 'writer'>): Promise<EventWriter> => {
  const { store, folder, memory, mostInMemory, errors } = world
  const writer = withKnownIds(store.writer, { folder, memory, leastSaved: 1, mostInMemory, report: (error) => errors.push(error) })
  await writer.state()
  return writer
}

async function worldOf({ most = 1e9, mostInMemory = 10 } = {}): Promise<World> {
  const parts = { store: new NaiveStore(), folder: newFolder(), memory: new MemoryShare(most), mostInMemory, errors: [] }
  return { ...parts, writer: await opened(parts) }
}

const byNo = (a: FoundPerson, b: FoundPerson) => a.personNo - b.personNo
const byId = (a: { distinctId: string }, b: { distinctId: string }) => (a.distinctId < b.distinctId ? -1 : 1)

async function sameAsStore({ store, writer }: World, ids: readonly string[]): Promise<void> {
  expect((await writer.ownersOfIds(ids)).sort(byId)).toEqual(store.owners(ids).sort(byId))
  const numbers = Array.from({ length: 200 }, (_, no) => no)
  const sizes = store.sizes(numbers)
  expect(await writer.sizesOf(numbers)).toEqual(sizes)
  expect((await writer.personsByNo(sizes)).sort(byNo)).toEqual(store.found(sizes).sort(byNo))
}

const randomOf = (seed: number) => {
  let state = seed | 1
  return (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % Math.max(below, 1)
  }
}

test('ids and persons are those of the store, whatever is committed, and after every kind of start', async () => {
  await assertGenerated(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
      const random = randomOf(seed)
      const world = await worldOf({ mostInMemory: [0, 10, 1_000][random(3)]! })
      const people = new People(random)
      for (let round = 0; round < 40; round++) {
        const group = await world.writer.openGroup()
        if (people.ids.size > 3 && random(4) === 0) people.otherStep(group)
        else for (let step = random(12); step >= 0; step--) people.step(group)
        await people.commit(group)
        await sameAsStore(world, people.everyId)
        switch (random(8)) {
          case 0:
            await world.writer.close()
            world.writer = await opened(world)
            break
          case 1: // killed: the file is an earlier one, or there is none, or it is being written
            world.folder = copyOf(world.folder)
            world.writer = await opened(world)
            break
          case 2: {
            await world.writer.close()
            const path = join(world.folder, 'known.ids')
            const bytes = existsSync(path) ? readFileSync(path) : null
            if (bytes && random(2) === 0) truncateSync(path, random(bytes.length))
            else if (bytes) {
              bytes[random(bytes.length)]! ^= 1 << random(8)
              writeFileSync(path, bytes)
            }
            world.writer = await opened(world)
            break
          }
        }
        await sameAsStore(world, people.everyId)
      }
      expect(world.errors).toEqual([])
    }),
    { numRuns: 15 },
  )
})

/** A world with some persons and a file. */
async function filled(): Promise<World & { readonly people: People }> {
  const world = await worldOf()
  const people = new People(randomOf(7))
  for (let round = 0; round < 5; round++) {
    const group = await world.writer.openGroup()
    for (let step = 0; step < 20; step++) people.step(group)
    await people.commit(group)
  }
  await world.writer.close()
  world.store.reads = 0
  return { ...world, people }
}

test('persons from before the file was begun are read in one pass, also after a restart in between', async () => {
  for (const isRestarted of [false, true]) {
    const world = await worldOf({ mostInMemory: 12 })
    const people = new People(randomOf(11))
    while (people.everyId.length < 40) {
      const group = await world.writer.openGroup()
      for (let step = 0; step < 8; step++) people.step(group)
      await people.commit(group)
    }
    if (isRestarted) {
      await world.writer.close()
      world.writer = await opened(world)
    }
    world.store.personReads = 0
    const sizes = world.store.sizes(Array.from({ length: 200 }, (_, no) => no))
    expect(sizes.length).toBeGreaterThan(12)
    for (const one of sizes) expect(await world.writer.personsByNo([one])).toEqual(world.store.found([one]))
    expect(world.store.personReads).toBe(0)
  }
})

test('persons that were staged before the file was begun, and committed after it, are in the file', async () => {
  const world = await worldOf({ mostInMemory: 12 })
  const put = (group: StagedGroup, no: number) => {
    const texts = { properties: `{"no":${no}}`, property_times: '' }
    const row = { uuid: nameUuid(namespace, String(no)), has_record: true, created_at: 1, is_identified: false, version: 0, updated_at: 1 }
    group.put('persons', { person_no: no, ...row, ...texts, imported_at: null, changed_seq: no }, true)
  }
  const before = await world.writer.openGroup()
  for (const no of [1, 2]) put(before, no)
  await before.commit(noSlots)
  const group = await world.writer.openGroup()
  for (const no of [3, 4, 5, 20]) put(group, no)
  world.store.personReads = 0
  const read = async (numbers: readonly number[]) => {
    for (const one of world.store.sizes(numbers)) expect(await world.writer.personsByNo([one])).toEqual(world.store.found([one]))
  }
  await read([1, 2])
  await group.commit(noSlots)
  await read([1, 2, 3, 4, 5, 20])
  expect(world.store.personReads).toBe(0)
})

test('a file that is complete is read instead of the store', async () => {
  const { people, ...world } = await filled()
  world.writer = await opened(world)
  await sameAsStore(world, people.everyId)
  expect(world.store.reads).toBe(0)
})

test.each<[string, (world: Awaited<ReturnType<typeof filled>>) => void]>([
  ['the file is of another store', ({ store }) => store.id++],
  ['the store is an older one', ({ store }) => store.tables.seq--],
  ['ids have left since', ({ store }) => Object.assign(store.tables, { seq: store.tables.seq + 1, rewrittenSeq: store.tables.seq + 1 })],
  ['the store has another number of ids', ({ store }) => store.tables.ids.pop()],
  ['there is none', ({ folder }) => rmSync(folder, { recursive: true })],
  ['it is empty', ({ folder }) => truncateSync(join(folder, 'known.ids'), 0)],
])('the store is read when %s', async (_, change) => {
  const { people, ...world } = await filled()
  change({ people, ...world })
  world.writer = await opened(world)
  await sameAsStore(world, people.everyId)
  expect(world.store.reads).toBe(1)
  expect(world.errors).toEqual([])
})

test('a commit that fails changes nothing; one that failed only to be confirmed is read from the store', async () => {
  const { people, ...world } = await filled()
  world.writer = await opened(world)
  for (const refusal of ['before', 'after'] as const) {
    const group = await world.writer.openGroup()
    for (let step = 0; step < 20; step++) people.step(group)
    world.store.refusal = refusal
    await expect(people.commit(group)).rejects.toThrow()
    world.store.refusal = null
    await world.writer.state()
    await sameAsStore(world, people.everyId)
  }
})

test('without memory for it, ids are looked up in the store, and it is said once', async () => {
  const world = await worldOf({ most: 120_000 })
  const people = new People(randomOf(3))
  for (let round = 0; round < 200; round++) {
    const group = await world.writer.openGroup()
    for (let step = 0; step < 20; step++) people.step(group)
    await people.commit(group)
    await world.writer.state()
  }
  await sameAsStore(world, people.everyId)
  expect(world.errors).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/does not fit into its memory.*Give Waymark more memory/) }),
  ])
  expect(world.memory.taken).toBe(0)
})

test('persons beyond memory are read from their file, also after a restart; a damaged one from the store', async () => {
  const { people, ...world } = await filled()
  world.store.personReads = 0
  world.writer = await opened(world)
  await sameAsStore(world, people.everyId)
  expect(world.store.personReads).toBe(0)
  await world.writer.close()
  const path = join(world.folder, 'persons')
  const bytes = readFileSync(path)
  for (let at = 100; at < bytes.length; at += 1_000) bytes[at]! ^= 1
  writeFileSync(path, bytes)
  world.writer = await opened(world)
  await sameAsStore(world, people.everyId)
  expect(world.store.personReads).toBe(1)
  await sameAsStore(world, people.everyId)
  expect(world.store.personReads).toBeGreaterThan(1)
})

test('places are used again: the file does not grow with the number of changes', async () => {
  const world = await worldOf({ mostInMemory: 0 })
  const people = new People(randomOf(11))
  const path = join(world.folder, 'persons')
  const sizes: number[] = []
  for (let round = 0; round < 400; round++) {
    const group = await world.writer.openGroup()
    if (round === 0) for (let step = 0; step < 100; step++) people.step(group)
    else for (let change = 0; change < 10; change++) people.touch()
    await people.commit(group)
    if (round === 200 || round === 399) sizes.push(statSync(path).size)
  }
  expect(sizes[1]! / sizes[0]!).toBeLessThan(1.2)
  await sameAsStore(world, people.everyId)
})

test('without a place for the file, persons are read from the store, and it is said once', async () => {
  const folder = newFolder()
  writeFileSync(folder, 'in the way')
  const parts = { store: new NaiveStore(), folder, memory: new MemoryShare(1e9), mostInMemory: 3, errors: [] as unknown[] }
  const world = { ...parts, writer: await opened(parts) }
  const people = new People(randomOf(5))
  for (let round = 0; round < 5; round++) {
    const group = await world.writer.openGroup()
    for (let step = 0; step < 20; step++) people.step(group)
    await people.commit(group)
  }
  await sameAsStore(world, people.everyId)
  expect(world.store.personReads).toBeGreaterThan(0)
  expect(world.errors.filter((error) => /EEXIST|ENOTDIR/.test(String(error))).length).toBeGreaterThan(0)
})

test('what a changed or removed person was is not in the file any more', async () => {
  const folder = newFolder()
  mkdirSync(folder)
  const file = new PersonFile(join(folder, 'persons'), null)
  const person = { personNo: 7, uuid: nameUuid(namespace, '7'), hasRecord: true, isIdentified: false, version: 0 }
  const written = (secret: string) =>
    file.write({ ...person, createdAt: 1, updatedAt: 1, importedAt: null, propertyTimes: '', properties: secret })
  const first = written('the first secret')
  file.place(7, first, null)
  const second = written('the second secret')
  file.place(7, second, first.size)
  const bytes = () => readFileSync(join(folder, 'persons'), 'latin1')
  expect([bytes().includes('first secret'), bytes().includes('second secret')]).toEqual([false, true])
  file.place(7, null, second.size)
  expect(bytes().includes('secret')).toBe(false)
  file.close()
})

test('one project leaves room for the index of another', async () => {
  const memory = new MemoryShare(300_000)
  const both = await Promise.all(
    [0, 1].map(async () => {
      const parts = { store: new NaiveStore(), folder: newFolder(), memory, mostInMemory: 1e9, errors: [] as unknown[] }
      return { ...parts, writer: await opened(parts) }
    }),
  )
  const [large, small] = both as [World, World]
  const group = await large.writer.openGroup()
  for (let i = 0; i < 12_000; i++) group.put('distinct_ids', { distinct_id: `id ${i}`, person_no: 1, added_seq: 1 }, true)
  group.setMeta('applied_seq', '1')
  await group.commit(noSlots)
  expect(large.errors).toHaveLength(1)
  const other = await small.writer.openGroup()
  other.put('distinct_ids', { distinct_id: 'id', person_no: 1, added_seq: 1 }, true)
  other.setMeta('applied_seq', '1')
  await other.commit(noSlots)
  expect(small.errors).toEqual([])
  expect(memory.taken).toBeGreaterThan(0)
})
