import { arrayOf, scalar, tupleOf } from '../../types/types.ts'
import { always } from '../results.ts'
import { type Arity, type Case, type FunctionRow, unsupported } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Geography: distances, geohashes and H3 cells. DuckDB has none of them without an extension.

const reason = unsupported('DuckDB has no geography without an extension')
const [uint8, uint64, float, flag, text] = [always('UInt8'), always('UInt64'), always('Float64'), always('Bool'), always('String')]
const cells: FunctionRow['returns'] = () => arrayOf(scalar('UInt64'))
const point = tupleOf([scalar('Float64'), scalar('Float64')])
const points: FunctionRow['returns'] = () => arrayOf(point)

const near = { tolerance: 1e-6 } as const
const geoRow = (args: number | Arity, returns: FunctionRow['returns'], summary: string, ...cases: readonly Case[]): ScalarSpec => ({
  args,
  returns,
  summary,
  duckdb: reason,
  cases,
})

const cell = "stringToH3('89184926cc3ffff')"
const edge = 'h3GetUnidirectionalEdge(599686042433355775, 599686043507097599)'
const berlinAndParis = '13.4, 52.5, 2.35, 48.85'

export const geoFunctions = scalars({
  geoDistance: geoRow(4, float, 'Metres between two points (longitude, latitude twice), on the ellipsoid.', [
    `round(geoDistance(${berlinAndParis}))`,
    880345,
  ]),
  greatCircleDistance: geoRow(4, float, 'Metres between two points on a sphere.', [
    `round(greatCircleDistance(${berlinAndParis}))`,
    878081,
  ]),
  greatCircleAngle: geoRow(4, float, 'Degrees between two points on a sphere.', [
    `greatCircleAngle(${berlinAndParis})`,
    7.896758783994652,
    near,
  ]),
  pointInEllipses: geoRow([6, null], flag, 'Whether a point lies in one of several ellipses (x, y, a, b each).', [
    'pointInEllipses(10.0, 10.0, 10.0, 9.1, 1.0, 0.9999)',
    1,
  ]),
  pointInPolygon: geoRow(
    [2, null],
    flag,
    'Whether a point lies in a polygon.',
    ['pointInPolygon((1, 1), [(0, 0), (2, 0), (2, 2), (0, 2)])', 1],
    ['pointInPolygon((3, 1), [(0, 0), (2, 0), (2, 2), (0, 2)])', 0],
  ),
  geohashEncode: geoRow([2, 3], text, 'The geohash of a longitude and latitude, with a length.', [
    'geohashEncode(-5.60302734375, 42.593994140625, 5)',
    'ezs42',
  ]),
  geohashDecode: geoRow(1, () => point, 'The longitude and latitude of a geohash.', [
    "tupleElement(geohashDecode('ezs42'), 1)",
    -5.60302734375,
  ]),
  geohashesInBox: geoRow(5, () => arrayOf(scalar('String')), 'The geohashes of a length inside a box of longitudes and latitudes.', [
    'length(geohashesInBox(24.48, 40.56, 24.785, 40.81, 4))',
    6,
  ]),
  geoToH3: geoRow(3, uint64, 'The H3 cell of a point at a resolution.', ['h3IsValid(geoToH3(37.79506683, 55.71290588, 9))', 1]),
  h3ToGeo: geoRow(1, () => point, 'The centre of a cell.', [`round(tupleElement(h3ToGeo(${cell}), 1), 3)`, 42.828]),
  h3ToGeoBoundary: geoRow(1, points, 'The corners of a cell.', [`length(h3ToGeoBoundary(${cell}))`, 6]),
  h3ToString: geoRow(1, text, 'A cell as text.', [`h3ToString(${cell})`, '89184926cc3ffff']),
  stringToH3: geoRow(1, uint64, 'A cell from its text.', ["h3IsValid(stringToH3('89184926cc3ffff'))", 1]),
  h3IsValid: geoRow(1, flag, 'Whether a number is a cell.', [`h3IsValid(${cell})`, 1]),
  h3GetResolution: geoRow(1, uint8, 'The resolution of a cell.', [`h3GetResolution(${cell})`, 9]),
  h3GetBaseCell: geoRow(1, uint8, 'The number of the base cell.', ['h3GetBaseCell(612916788725809151)', 12]),
  h3GetFaces: geoRow(1, () => arrayOf(scalar('UInt8')), 'The faces of the icosahedron that a cell touches.', [
    'h3GetFaces(599686042433355775)',
    [7],
  ]),
  h3GetPentagonIndexes: geoRow(1, cells, 'The pentagons of a resolution.', ['length(h3GetPentagonIndexes(3))', 12]),
  h3GetRes0Indexes: geoRow(0, cells, 'All cells of resolution 0.', ['length(h3GetRes0Indexes())', 122]),
  h3IsPentagon: geoRow(1, flag, 'Whether a cell is a pentagon.', [`h3IsPentagon(${cell})`, 0]),
  h3IsResClassIII: geoRow(1, flag, 'Whether the resolution of a cell is odd.', [`h3IsResClassIII(${cell})`, 1]),
  h3NumHexagons: geoRow(1, always('Int64'), 'Number of cells at a resolution.', ['h3NumHexagons(3)', 41162]),
  h3ToParent: geoRow(2, uint64, 'The cell of a coarser resolution around a cell.', [`h3GetResolution(h3ToParent(${cell}, 3))`, 3]),
  h3ToChildren: geoRow(2, cells, 'The cells of a finer resolution in a cell.', [`length(h3ToChildren(${cell}, 10))`, 7]),
  h3ToCenterChild: geoRow(2, uint64, 'The cell of a finer resolution in the middle of a cell.', [
    `h3GetResolution(h3ToCenterChild(${cell}, 10))`,
    10,
  ]),
  h3Distance: geoRow(2, always('Int64'), 'Steps between two cells.', ['h3Distance(590080540275638271, 590103561300344831)', 6]),
  h3Line: geoRow(2, cells, 'The cells on the way between two cells.', ['length(h3Line(590080540275638271, 590103561300344831))', 7]),
  h3kRing: geoRow(2, cells, 'All cells within a number of steps.', [`length(h3kRing(${cell}, 1))`, 7]),
  h3HexRing: {
    ...geoRow(2, cells, 'The cells exactly a number of steps away.', ['length(h3HexRing(590080540275638271, 1))', 6]),
    clickhouse: ([origin, steps]) => `h3HexRing(${origin!.sql}, toUInt16(${steps!.sql}))`,
  },
  h3IndexesAreNeighbors: geoRow(2, flag, 'Whether two cells are neighbours.', [
    'h3IndexesAreNeighbors(617420388351344639, 617420388352655359)',
    1,
  ]),
  h3EdgeAngle: geoRow(1, float, 'The mean edge of a resolution in degrees.', ['h3EdgeAngle(10)', 0.0006822586214258879, near]),
  h3EdgeLengthM: geoRow(1, float, 'The mean edge of a resolution in metres.', ['round(h3EdgeLengthM(5))', 9854]),
  h3EdgeLengthKm: geoRow(1, float, 'The mean edge of a resolution in kilometres.', ['round(h3EdgeLengthKm(5), 1)', 9.9]),
  h3ExactEdgeLengthM: geoRow(1, float, 'The length of an edge in metres.', ['round(h3ExactEdgeLengthM(1310277011704381439))', 195450]),
  h3ExactEdgeLengthKm: geoRow(1, float, 'The length of an edge in kilometres.', ['round(h3ExactEdgeLengthKm(1310277011704381439))', 195]),
  h3ExactEdgeLengthRads: geoRow(1, float, 'The length of an edge in radians.', [
    'round(h3ExactEdgeLengthRads(1310277011704381439), 4)',
    0.0307,
  ]),
  h3HexAreaM2: geoRow(1, float, 'The mean area of a resolution in square metres.', ['round(h3HexAreaM2(5) / 1000000)', 253]),
  h3HexAreaKm2: geoRow(1, float, 'The mean area of a resolution in square kilometres.', ['round(h3HexAreaKm2(5))', 253]),
  h3CellAreaM2: geoRow(1, float, 'The area of a cell in square metres.', [`round(h3CellAreaM2(${cell}))`, 102963]),
  h3CellAreaRads2: geoRow(1, float, 'The area of a cell in square radians.', [`h3CellAreaRads2(${cell})`, 2.5366791686162507e-9, near]),
  h3PointDistM: geoRow(4, float, 'Metres between two points (latitude, longitude twice).', [
    'round(h3PointDistM(-10.0, 0.0, 10.0, 0.0))',
    2223901,
  ]),
  h3PointDistKm: geoRow(4, float, 'Kilometres between two points.', ['round(h3PointDistKm(-10.0, 0.0, 10.0, 0.0))', 2224]),
  h3PointDistRads: geoRow(4, float, 'Radians between two points.', ['h3PointDistRads(-10.0, 0.0, 10.0, 0.0)', 0.3490658503988659, near]),
  h3GetUnidirectionalEdge: geoRow(2, uint64, 'The edge from one cell to its neighbour.', [`h3UnidirectionalEdgeIsValid(${edge})`, 1]),
  h3UnidirectionalEdgeIsValid: geoRow(1, flag, 'Whether a number is an edge.', [`h3UnidirectionalEdgeIsValid(${edge})`, 1]),
  h3GetOriginIndexFromUnidirectionalEdge: geoRow(1, uint64, 'The cell an edge starts from.', [
    `h3GetOriginIndexFromUnidirectionalEdge(${edge}) = 599686042433355775`,
    1,
  ]),
  h3GetDestinationIndexFromUnidirectionalEdge: geoRow(1, uint64, 'The cell an edge leads to.', [
    `h3GetDestinationIndexFromUnidirectionalEdge(${edge}) = 599686043507097599`,
    1,
  ]),
  h3GetIndexesFromUnidirectionalEdge: geoRow(1, () => tupleOf([scalar('UInt64'), scalar('UInt64')]), 'Both cells of an edge.', [
    `tupleElement(h3GetIndexesFromUnidirectionalEdge(${edge}), 1) = 599686042433355775`,
    1,
  ]),
  h3GetUnidirectionalEdgesFromHexagon: geoRow(1, cells, 'The edges of a cell.', [
    `length(h3GetUnidirectionalEdgesFromHexagon(${cell}))`,
    6,
  ]),
  h3GetUnidirectionalEdgeBoundary: geoRow(1, points, 'The points of an edge.', [`length(h3GetUnidirectionalEdgeBoundary(${edge}))`, 2]),
})
