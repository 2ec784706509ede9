// The layer table: the floors of `src/` from the ground up, their rooms, and what each room may use. docs/architecture.md shows it as a drawing.

export interface Floor {
  readonly name: string
  readonly summary: string
  /** The rooms, or whole floors, that each room may import, besides its own files. */
  readonly rooms: Readonly<Record<string, readonly string[]>>
}

const ground = ['lib', 'errors', 'limits']

export const floors: readonly Floor[] = [
  { name: 'lib', summary: 'small functions without product terms', rooms: { lib: [] } },
  { name: 'errors', summary: 'error classes, the table of codes, positions', rooms: { errors: ['lib'] } },
  { name: 'limits', summary: 'the table of what is kept', rooms: { limits: ['lib', 'errors'] } },
  {
    name: 'language',
    summary: 'from text to a typed plan, to the text of an engine',
    rooms: {
      'language/ast': ground,
      'language/types': ground,
      'language/parser': [...ground, 'language/ast', 'language/types'],
      'language/functions': [...ground, 'language/ast', 'language/types'],
      'language/catalog': [...ground, 'language/ast', 'language/types'],
      'language/resolver': [...ground, 'language/ast', 'language/types', 'language/parser', 'language/functions', 'language/catalog'],
      'language/plan': [
        ...ground,
        'language/ast',
        'language/types',
        'language/parser',
        'language/functions',
        'language/catalog',
        'language/resolver',
      ],
      'language/dialects': [...ground, 'language'],
    },
  },
  {
    name: 'core',
    summary: 'events in memory, one list per person, and loops over them',
    rooms: { 'core/lists': ground, 'core/kernels': ground, 'core/simd': ground, 'core/folds': [...ground, 'core'] },
  },
  { name: 'queries', summary: 'the kinds of queries', rooms: { queries: [...ground, 'language', 'core'] } },
  {
    name: 'events',
    summary: 'from bytes to the store',
    rooms: {
      'events/imports': ground,
      'events/ingestion': [...ground, 'language/types', 'language/catalog'],
      'events/bulk': [...ground, 'events/imports', 'events/ingestion'],
    },
  },
  {
    name: 'engine',
    summary: 'from a request to its rows: roads, statements, stores, processes',
    rooms: {
      'engine/definitions': [...ground, 'language', 'queries'],
      'engine/execution': [...ground, 'language', 'core', 'queries', 'engine/definitions'],
      'engine/admission': [...ground, 'engine/execution'],
      'engine/storage': [...ground, 'language/types', 'language/catalog', 'language/dialects'],
      'engine/backend': [...ground, 'language', 'core', 'queries', 'events/ingestion', 'engine'],
      'engine/isolation': [...ground, 'language', 'core', 'queries', 'events/ingestion', 'engine'],
    },
  },
  {
    name: 'service',
    summary: 'what people keep: records, rules, due work; no transport',
    rooms: {
      'service/network': ground,
      'service/pictures': ['lib'],
      'service/bitmaps': ground,
      'service/accounts': ground,
      'service/jobs': [...ground, 'service/accounts'],
      'service/currencies': [...ground, 'language/types'],
      'service/attached': [...ground, 'language/catalog', 'engine/storage'],
      'service/data-retention': [...ground, 'service/accounts', 'service/jobs'],
      'service/directory': [...ground, 'engine/storage', 'service/accounts', 'service/network'],
      'service/backups': [...ground, 'engine/storage', 'service/accounts', 'service/jobs'],
      'service/moving': [...ground, 'engine/storage', 'service/accounts', 'service/directory', 'service/plugins'],
      'service/asking': [
        ...ground,
        'language/catalog',
        'queries',
        'engine/admission',
        'engine/execution',
        'engine/backend',
        'service/accounts',
      ],
      'service/single-sign-on': [...ground, 'service/accounts', 'service/jobs'],
      'service/exports': [...ground, 'language', 'service/accounts', 'service/jobs'],
      'service/plugins': [...ground, 'service/accounts', 'service/jobs'],
      'service/saved': [
        ...ground,
        'language',
        'queries',
        'engine/admission',
        'engine/execution',
        'service/accounts',
        'service/asking',
        'service/jobs',
      ],
      'service/sharing': [...ground, 'language', 'queries', 'service/accounts', 'service/asking', 'service/saved', 'service/pictures'],
      'service/imports': [...ground, 'language', 'service/accounts'],
      'service/flags': [...ground, 'queries', 'service/accounts', 'service/saved'],
      'service/viewers': [...ground, 'queries', 'engine', 'service/accounts', 'service/asking', 'service/saved', 'service/sharing'],
      'service/notifications': [
        ...ground,
        'language',
        'queries',
        'service/accounts',
        'service/bitmaps',
        'service/jobs',
        'service/saved',
        'service/pictures',
      ],
      'service/watching': [...ground, 'service/accounts', 'service/jobs', 'service/notifications'],
    },
  },
  {
    name: 'root',
    summary: 'connects the parts',
    rooms: { root: [...ground, 'language', 'queries', 'events', 'engine', 'service'] },
  },
  {
    name: 'doors',
    summary: 'what programs and people reach',
    rooms: {
      'doors/answers': [...ground, 'service/saved', 'service/notifications'],
      'doors/agents': [...ground, 'queries', 'service', 'doors/answers'],
      'doors/http': [
        ...ground,
        'language',
        'queries',
        'events',
        'engine/admission',
        'engine/execution',
        'service',
        'root',
        'doors/answers',
        'doors/agents',
      ],
      'doors/postgres': [...ground, 'language/catalog', 'language/types', 'queries', 'engine/storage', 'doors/http'],
      'doors/library': [...ground, 'events/imports', 'events/bulk', 'engine/storage', 'service', 'root', 'doors/answers', 'doors/http'],
      'doors/connected': [
        ...ground,
        'queries',
        'events/ingestion',
        'engine/storage',
        'engine/isolation',
        'service',
        'root',
        'doors/http',
        'doors/library',
      ],
      'doors/cli': [
        ...ground,
        'language',
        'queries',
        'events',
        'engine/storage',
        'service',
        'root',
        'doors/agents',
        'doors/http',
        'doors/library',
        'doors/connected',
        'doors/postgres',
      ],
    },
  },
  // A program of the browser: the API's client, with the types of its answers, and the drawings that mails have too.
  {
    name: 'web',
    summary: 'pages, a program of the browser',
    rooms: { web: ['lib', 'events/imports', 'service/pictures', 'doors/answers'] },
  },
  {
    name: 'index.ts',
    summary: 'the public door',
    rooms: {
      'index.ts': [
        ...ground,
        'language',
        'queries',
        'events/ingestion',
        'engine',
        'service',
        'root',
        'doors/http',
        'doors/library',
        'doors/connected',
      ],
    },
  },
]

/** What everybody may read: what a room asks of others stands in a file named ports.ts; facts about maths are plain data. */
export const shared: Readonly<Record<string, readonly string[]>> = {
  ports: [...ground, 'language/types', 'language/catalog', 'language/dialects', 'ports'],
  maths: ['lib'],
}
const roomed = ['language', 'core', 'events', 'engine', 'service', 'doors']

export function layerOf(file: string): string {
  const [floor = '', room = ''] = file.split('/')
  if (file.endsWith('/ports.ts')) return 'ports'
  if (file === 'queries/series/maths.ts') return 'maths'
  if (floor === file) return file === 'index.ts' ? file : 'root'
  return roomed.includes(floor) ? `${floor}/${room}` : floor
}

/** Folders whose children do not know each other, but for the rooms that they share. What is directly in such a folder is for all of them. */
export const strangers: readonly { readonly folder: string; readonly except?: readonly string[] }[] = [
  { folder: 'queries', except: ['time', 'filters', 'series', 'lists', 'answers'] },
  { folder: 'language/dialects' },
  { folder: 'service/exports/destinations', except: ['destination.ts'] },
  { folder: 'engine/storage', except: ['files', 'locks', 'moving', 'recovery'] },
]
