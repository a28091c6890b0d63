"""Icons drawn as lines on a grid of 16, so that they are sharp at every scale and take the palette's colour."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPalette, QPen, QPixmap

Shape = tuple[tuple[float, ...], ...]

# Each stroke is a list of x, y; a stroke of three numbers is a circle with centre and radius.
_SHAPES: Final[dict[str, Shape]] = {
    "new": ((3.5, 1.5, 9.5, 1.5, 12.5, 4.5, 12.5, 14.5, 3.5, 14.5, 3.5, 1.5), (9.5, 1.5, 9.5, 4.5, 12.5, 4.5)),
    "open": (
        (1.5, 13.5, 1.5, 3.5, 6.5, 3.5, 7.5, 5.5, 12.5, 5.5, 12.5, 7.5),
        (1.5, 13.5, 4.5, 7.5, 15, 7.5, 12, 13.5, 1.5, 13.5),
    ),
    "save": (
        (2.5, 2.5, 12, 2.5, 13.5, 4, 13.5, 13.5, 2.5, 13.5, 2.5, 2.5),
        (4.5, 13.5, 4.5, 8.5, 11.5, 8.5, 11.5, 13.5),
        (5.5, 2.5, 5.5, 5.5, 10.5, 5.5, 10.5, 2.5),
    ),
    "cut": ((5, 1.5, 10, 10.5), (11, 1.5, 6, 10.5), (4.7, 12.3, 2.0), (11.3, 12.3, 2.0)),
    "copy": ((2.5, 10.5, 2.5, 1.5, 9.5, 1.5), (5.5, 4.5, 13.5, 4.5, 13.5, 14.5, 5.5, 14.5, 5.5, 4.5)),
    "paste": (
        (5.5, 2.5, 2.5, 2.5, 2.5, 14.5, 13.5, 14.5, 13.5, 2.5, 10.5, 2.5),
        (5.5, 1.5, 10.5, 1.5, 10.5, 4.5, 5.5, 4.5, 5.5, 1.5),
        (5, 8, 11, 8),
        (5, 11, 11, 11),
    ),
    "undo": ((5.5, 2.5, 2.5, 5.5, 5.5, 8.5), (2.5, 5.5, 9.5, 5.5, 12.5, 7, 13.5, 9.5, 12.5, 12, 9.5, 13.5, 6, 13.5)),
    "redo": ((10.5, 2.5, 13.5, 5.5, 10.5, 8.5), (13.5, 5.5, 6.5, 5.5, 3.5, 7, 2.5, 9.5, 3.5, 12, 6.5, 13.5, 10, 13.5)),
    "folder": ((1.5, 13.5, 1.5, 3.5, 6.5, 3.5, 7.5, 5.5, 14.5, 5.5, 14.5, 13.5, 1.5, 13.5),),
    "file": ((3.5, 1.5, 9.5, 1.5, 12.5, 4.5, 12.5, 14.5, 3.5, 14.5, 3.5, 1.5), (9.5, 1.5, 9.5, 4.5, 12.5, 4.5)),
}  # fmt: skip


def icon(name: str, palette: QPalette, size: int = 16) -> QIcon:
    """An icon in the colours of a palette, for the usual scales of screens."""
    made = QIcon()
    for mode, group in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled),
    ):
        color = palette.color(group, QPalette.ColorRole.ButtonText)
        for scale in (1, 2):
            made.addPixmap(_drawn(_SHAPES[name], color, size, scale), mode)
    return made


def _drawn(shape: Shape, color: QColor, size: int, scale: int) -> QPixmap:
    pixmap = QPixmap(size * scale, size * scale)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / 16, size / 16)
    pen = QPen(color, 1.0)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    for stroke in shape:
        if len(stroke) == 3:
            x, y, radius = stroke
            painter.drawEllipse(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))
            continue
        path = QPainterPath(QPointF(stroke[0], stroke[1]))
        for x, y in zip(stroke[2::2], stroke[3::2], strict=True):
            path.lineTo(x, y)
        painter.drawPath(path)
    painter.end()
    return pixmap
