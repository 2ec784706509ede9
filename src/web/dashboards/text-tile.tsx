import { tileText } from '../../service/pictures/tile-text.ts'
import { nodesOf } from '../charts/nodes.ts'

export const TextTile = ({ body }: { body: string }) => <div class="text-tile">{tileText(body).map(nodesOf)}</div>
