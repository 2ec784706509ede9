import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { geoEqualEarth, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'

// npm run world: the countries of Natural Earth (world-atlas) as paths of a map, in src/service/pictures/world.ts. Coordinates are whole numbers, each relative to the one before.

const require = createRequire(import.meta.url)
/** As in src/service/pictures/draw/map.ts. */
const [width, height] = [2000, 880]
const countriesOf = (detail) => {
  const topology = require(`world-atlas/countries-${detail}.json`)
  return feature(topology, topology.objects.countries).features.filter(({ id }) => id !== '010') // without Antarctica
}

/** Natural Earth has numbers of ISO 3166, and none for Kosovo. */
const codeOf = ({ id, properties }) => {
  if (properties.name === 'Kosovo') return 'XK'
  const [, region] = id ? Intl.getCanonicalLocales(`und-${id}`)[0].split('-') : []
  return /^[A-Z]{2}$/.test(region ?? '') ? region : null
}

const shapes = countriesOf('110m')
const projection = geoEqualEarth().fitSize([width, height], { type: 'FeatureCollection', features: shapes })

function pathOf(country) {
  let path = ''
  let ring = []
  let at = [0, 0]
  const end = () => {
    if (ring.length > 2) {
      path += ring.map(([x, y], i) => {
        const by = i === 0 && path === '' ? `M${x} ${y}` : `${i === 0 ? 'm' : i === 1 ? 'l' : ' '}${x - at[0]} ${y - at[1]}`
        at = [x, y]
        return by
      }).join('').replaceAll(' -', '-')
      path += 'z'
      at = ring[0]
    }
    ring = []
  }
  const add = (x, y) => {
    const point = [Math.round(x), Math.round(y)]
    const last = ring.at(-1)
    if (!last || last[0] !== point[0] || last[1] !== point[1]) ring.push(point)
  }
  geoPath(projection, { moveTo: add, lineTo: add, closePath: end, arc() {} })(country)
  return path
}

const drawn = shapes.map((country) => ({ code: codeOf(country), path: pathOf(country) }))
const codes = new Set(drawn.map(({ code }) => code))
const small = countriesOf('50m').flatMap((country) => {
  const code = codeOf(country)
  return code === null || codes.has(code) ? [] : [{ code, place: geoPath(projection).centroid(country).map(Math.round) }]
})
const byCode = (a, b) => (a.code < b.code ? -1 : 1)
const lines = (all, written) => all.map((one) => `    ${written(one)},`).join('\n')
await writeFile(
  new URL('../src/service/pictures/world.ts', import.meta.url),
  `// Made by npm run world from Natural Earth (public domain) in the package world-atlas: Equal Earth projection, 1:110 million.

export interface World {
  /** Paths by the code of the country (ISO 3166, two letters). */
  readonly shapes: Readonly<Record<string, string>>
  /** Where a country is that is too small for a shape. */
  readonly points: Readonly<Record<string, readonly [x: number, y: number]>>
  /** Without a code. */
  readonly land: readonly string[]
}

// biome-ignore format: long lines
export const world: World = {
  shapes: {
${lines(drawn.filter(({ code }) => code).sort(byCode), ({ code, path }) => `${code}: '${path}'`)}
  },
  points: {
${lines(small.sort(byCode), ({ code, place }) => `${code}: [${place.join(', ')}]`)}
  },
  land: [
${lines(drawn.filter(({ code }) => !code), ({ path }) => `'${path}'`)}
  ],
}
`,
)
