//! Figures on any canvas of `plotters`: SVG for the page, pixels for PNG files.

use std::ops::Range;
use std::sync::Once;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::VPos;
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind};

use super::figure::{
    round_step, Bars, Counts, Front, Lines, Mark, Marker, Panel, Plot, Tick, Trades, MOST_COLOURS,
};
use crate::sweep::Spread;

/// Text and axes: a colour that occurs nowhere else, so that a page can put its own there.
pub const INK: RGBColor = RGBColor(0x1F, 0x29, 0x33);
/// Of series, told apart on white and on black.
pub const COLOURS: [RGBColor; MOST_COLOURS] = [
    RGBColor(0x3B, 0x82, 0xC4),
    RGBColor(0xE0, 0x7B, 0x39),
    RGBColor(0x2E, 0x9E, 0x6B),
    RGBColor(0x9B, 0x6B, 0xC4),
    RGBColor(0xB0, 0x7A, 0x4A),
];
/// Size of every figure in units of SVG.
pub const SIZE: (u32, u32) = (960, 400);
/// How pale the uncorrected prediction is beside the corrected one.
const PALE: f64 = 0.4;
const FONT: &str = "sans-serif";

type Fault<D> = DrawingAreaErrorKind<<D as DrawingBackend>::ErrorType>;
type Area<D> = DrawingArea<D, Shift>;

/// The figure as SVG, to stand in a page: ink has the page's colour.
///
/// # Errors
/// If drawing fails.
pub fn svg(plot: &Plot) -> Result<String, String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&root, plot, 1.0).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    let ink = format!("#{:02X}{:02X}{:02X}", INK.0, INK.1, INK.2);
    Ok(text
        .replace(&ink, "currentColor")
        .replace(" xmlns=\"http://www.w3.org/2000/svg\"", "")
        .trim_end()
        .to_owned())
}

/// The figure as a PNG file on white, with two pixels for each unit of SVG.
///
/// # Errors
/// If drawing fails.
pub fn png(plot: &Plot) -> Result<Vec<u8>, String> {
    let (width, height) = (2 * SIZE.0, 2 * SIZE.1);
    let mut pixels = vec![0; (width * height * 3) as usize];
    {
        let canvas = BitMapBackend::with_buffer(&mut pixels, (width, height));
        let root = Pixels(canvas).into_drawing_area();
        root.fill(&WHITE).map_err(|error| error.to_string())?;
        draw(&root, plot, 2.0).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(|error| error.to_string())?;
    Ok(file)
}

/// A canvas of pixels on which text stands where SVG puts it. `plotters` gives pixels a height of
/// text and a base line that do not fit each other: by itself it sets text an eighth of its size
/// higher, above the middle of the mark or tick that it belongs to.
struct Pixels<'a>(BitMapBackend<'a>);

impl Pixels<'_> {
    /// How far below its place the base line of text is in SVG, less how far it is in pixels; in
    /// sizes of the text.
    fn sink(vertical: VPos) -> f64 {
        const EM: f64 = 1.0 / 1.24;
        const EX: f64 = 0.547 * EM;
        match vertical {
            VPos::Top => 0.76 * EM - 0.5,
            VPos::Center => 0.5 * EX - (0.5 - 0.5 * EM),
            VPos::Bottom => -0.5 * EX - (0.5 - EM),
        }
    }
}

impl<'a> DrawingBackend for Pixels<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.present()
    }

    fn draw_pixel(
        &mut self,
        place: BackendCoord,
        colour: BackendColor,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_pixel(place, colour)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        let sink = Self::sink(style.anchor().v_pos) * style.size();
        let (right, down) = style.transform().transform(0, sink.round() as i32);
        self.0.draw_text(text, style, (x + right, y + down))
    }
}

/// An axis with its own ticks.
struct Axis {
    range: Range<f64>,
    ticks: Vec<Tick>,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _hint: H) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.at == *value);
        tick.map_or(String::new(), |tick| tick.label.clone())
    }
}

impl Axis {
    /// An axis from 0 over numbers, with round ticks, a little longer than they reach.
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if high - low < 1e-9 {
            high = low + 1.0;
        }
        let margin = (high - low) * 0.06;
        let bottom = if low < 0.0 { low - margin } else { 0.0 };
        let top = if high > 0.0 { high + margin } else { 0.0 };
        Axis {
            ticks: round_ticks(bottom, top),
            range: bottom..top,
        }
    }

    /// An axis over numbers only.
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            return Axis::over(std::iter::empty());
        }
        let margin = (0.08 * (high - low)).max(1e-3);
        let range = low - margin..high + margin;
        Axis {
            ticks: round_ticks(range.start, range.end),
            range,
        }
    }
}

/// Four to eight ticks at multiples of 1, 2 or 5 times a power of ten.
pub fn round_ticks(low: f64, high: f64) -> Vec<Tick> {
    let (factor, power) = round_step((high - low) / 8.0);
    let step = factor * 10_f64.powi(power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last)
        .map(|number| {
            let at = number as f64 * step;
            let label = format!("{at:.decimals$}").replace('-', "\u{2212}");
            Tick { at, label }
        })
        .collect()
}

fn draw<D: DrawingBackend>(root: &Area<D>, plot: &Plot, scale: f64) -> Result<(), Fault<D>> {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        let font = include_bytes!("font/DejaVuSans-subset.ttf");
        assert!(register_font(FONT, FontStyle::Normal, font).is_ok());
    });
    let pen = Pen { scale };
    let rows = pen.legend_rows(root, plot)?;
    let (legend, rest) = root.split_vertically(pen.length(12 + 22 * rows.len() as u32));
    pen.legend(&legend, plot, &rows)?;
    let parts = rest.split_evenly((1, plot.panels.len()));
    for (panel, area) in plot.panels.iter().zip(&parts) {
        match panel {
            Panel::Lines(lines) => pen.lines(area, lines)?,
            Panel::Counts(counts) => pen.counts(area, counts)?,
            Panel::Bars(bars) => pen.bars(area, bars)?,
            Panel::Trades(trades) => pen.trades(area, trades)?,
            Panel::Front(front) => pen.front(area, front)?,
        }
    }
    Ok(())
}

/// Draws in units of SVG on a canvas with `scale` pixels for each.
struct Pen {
    scale: f64,
}

impl Pen {
    fn length(&self, units: u32) -> u32 {
        (f64::from(units) * self.scale).round() as u32
    }

    fn text<'a>(&self, size: u32) -> TextStyle<'a> {
        (FONT, self.length(size)).into_font().color(&INK)
    }

    /// Where a row of the legend may begin and end.
    fn legend_room(&self) -> (i32, i32) {
        (self.length(70) as i32, self.length(SIZE.0 - 10) as i32)
    }

    /// The width of each entry of the legend, its mark included.
    fn legend_widths<D: DrawingBackend>(
        &self,
        area: &Area<D>,
        plot: &Plot,
    ) -> Result<Vec<i32>, Fault<D>> {
        let (mark, style) = (self.length(20) as i32, self.text(14));
        let mut widths = Vec::new();
        for (_, label) in &plot.legend {
            let (width, _) = area.estimate_text_size(label, &style)?;
            widths.push(mark + width as i32);
        }
        Ok(widths)
    }

    /// The entries of each row of the legend: one row if they fit, however close they stand.
    fn legend_rows<D: DrawingBackend>(
        &self,
        area: &Area<D>,
        plot: &Plot,
    ) -> Result<Vec<Range<usize>>, Fault<D>> {
        let (from, to) = self.legend_room();
        let (closest, usual) = (self.length(8) as i32, self.length(20) as i32);
        let widths = self.legend_widths(area, plot)?;
        let all: i32 = widths.iter().map(|width| width + closest).sum();
        if all <= to - from {
            return Ok(std::iter::once(0..widths.len()).collect());
        }
        let (mut rows, mut begin, mut x) = (Vec::new(), 0, from);
        for (place, width) in widths.iter().enumerate() {
            if x + width > to && place > begin {
                rows.push(begin..place);
                (begin, x) = (place, from);
            }
            x += width + usual;
        }
        rows.push(begin..widths.len());
        Ok(rows)
    }

    /// What colours and shapes mean, in rows.
    fn legend<D: DrawingBackend>(
        &self,
        area: &Area<D>,
        plot: &Plot,
        rows: &[Range<usize>],
    ) -> Result<(), Fault<D>> {
        let unit = |units: u32| self.length(units) as i32;
        let style = self.text(14);
        let (from, to) = self.legend_room();
        let widths = self.legend_widths(area, plot)?;
        for (row, entries) in rows.iter().enumerate() {
            let y = unit(18 + 22 * row as u32);
            let mut x = from;
            // A long row stands closer.
            let taken: i32 = widths[entries.clone()].iter().sum();
            let gap = unit(20).min((to - from - taken) / entries.len().max(1) as i32);
            let of_row = plot.legend[entries.clone()].iter();
            for ((mark, label), width) in of_row.zip(&widths[entries.clone()]) {
                let (_, height) = area.estimate_text_size(label, &style)?;
                self.mark(area, mark, (x + unit(8), y), 5)?;
                area.draw_text(label, &style, (x + unit(20), y - height as i32 / 2))?;
                x += width + gap;
            }
        }
        Ok(())
    }

    fn mark<D: DrawingBackend>(
        &self,
        area: &Area<D>,
        mark: &Mark,
        (x, y): (i32, i32),
        size: u32,
    ) -> Result<(), Fault<D>> {
        let size = self.length(size) as i32;
        let colour = mark.ink();
        let style = match (mark.pale, mark.shape) {
            (true, Marker::Swatch) => colour.mix(PALE).filled(),
            (true, _) => colour.stroke_width(self.length(2).max(1)),
            (false, _) => colour.filled(),
        };
        match mark.shape {
            Marker::Swatch => area.draw(&Rectangle::new(
                [(x - size, y - size), (x + size, y + size)],
                style,
            )),
            Marker::Line => area.draw(&PathElement::new(
                [(x - size - size / 2, y), (x + size + size / 2, y)],
                mark.stroke(self.length(3)),
            )),
            Marker::Circle => area.draw(&Circle::new((x, y), size, style)),
            Marker::Square => {
                let half = size - size / 6;
                let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
                self.polygon(area, (x, y), &corners, mark.pale, style)
            }
            Marker::Diamond => {
                let half = size + size / 6;
                let corners = [(0, -half), (half, 0), (0, half), (-half, 0)];
                self.polygon(area, (x, y), &corners, mark.pale, style)
            }
            Marker::Triangle => {
                let half = size + size / 6;
                let corners = [(0, -half), (half, size), (-half, size)];
                self.polygon(area, (x, y), &corners, mark.pale, style)
            }
            Marker::TriangleDown => {
                let half = size + size / 6;
                let corners = [(-half, -size), (half, -size), (0, half)];
                self.polygon(area, (x, y), &corners, mark.pale, style)
            }
        }
    }

    /// A polygon by its corners, which are relative to `(x, y)`.
    fn polygon<D: DrawingBackend>(
        &self,
        area: &Area<D>,
        (x, y): (i32, i32),
        corners: &[(i32, i32)],
        outline: bool,
        style: ShapeStyle,
    ) -> Result<(), Fault<D>> {
        let mut corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        match outline {
            true => {
                corners.push(corners[0]);
                area.draw(&PathElement::new(corners, style))
            }
            false => area.draw(&Polygon::new(corners, style)),
        }
    }

    /// The axes of a panel.
    fn axes<'a, D: DrawingBackend>(
        &self,
        area: &'a Area<D>,
        title: &str,
        labels: (&str, &str),
        axes: (Axis, Axis),
        x_lines: bool,
    ) -> Result<ChartContext<'a, D, Cartesian2d<Axis, Axis>>, Fault<D>> {
        // Up to six digits have room beside the title of the axis.
        let digits = axes.1.ticks.iter().map(|tick| tick.label.chars().count());
        let wider = 9 * digits.max().unwrap_or(0).saturating_sub(6) as u32;
        let mut builder = ChartBuilder::on(area);
        builder
            .margin(self.length(8))
            .margin_right(self.length(24))
            .x_label_area_size(self.length(46))
            .y_label_area_size(self.length(64 + wider));
        if !title.is_empty() {
            builder.caption(title, self.text(15));
        }
        let mut chart = builder.build_cartesian_2d(axes.0, axes.1)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(INK.mix(0.16).stroke_width(self.length(1)))
            .axis_style(INK.mix(0.7).stroke_width(self.length(1)))
            .set_all_tick_mark_size(self.length(4))
            .label_style(self.text(13))
            .axis_desc_style(self.text(14))
            .x_desc(labels.0)
            .y_desc(labels.1);
        if !x_lines {
            mesh.disable_x_mesh();
        }
        mesh.draw()?;
        Ok(chart)
    }

    fn lines<D: DrawingBackend>(&self, area: &Area<D>, lines: &Lines) -> Result<(), Fault<D>> {
        let points = || lines.series.iter().flat_map(|(_, points)| points);
        let y = Axis::over(points().flat_map(|(_, y)| [y.low, y.high]));
        let first = lines.ticks.first().map_or(0.0, |tick| tick.at);
        let last = lines.ticks.last().map_or(1.0, |tick| tick.at);
        let last = points().map(|(x, _)| *x).fold(last, f64::max);
        let beside = 0.02 * (last - first);
        let x = Axis {
            range: first - beside..last + beside,
            ticks: lines.ticks.clone(),
        };
        let labels = (lines.x_label.as_str(), lines.y_label.as_str());
        let bounds = x.range.clone();
        let mut chart = self.axes(area, &lines.title, labels, (x, y), true)?;
        chart.draw_series(LineSeries::new(
            [(bounds.start, 0.0), (bounds.end, 0.0)],
            INK.mix(0.7).stroke_width(self.length(1)),
        ))?;
        for (mark, points) in &lines.series {
            let colour = mark.ink();
            chart.draw_series(LineSeries::new(
                points.iter().map(|(x, y)| (*x, y.mean)),
                mark.stroke(self.length(2)),
            ))?;
            for (x, y) in points {
                self.whisker(&mut chart, *x, y, colour)?;
                if mark.shape == Marker::Line {
                    continue;
                }
                let at = chart.backend_coord(&(*x, y.mean));
                self.mark(area, mark, at_area(area, at), 5)?;
            }
        }
        Ok(())
    }

    /// From the least to the greatest of the values of several seeds.
    fn whisker<D: DrawingBackend>(
        &self,
        chart: &mut ChartContext<D, Cartesian2d<Axis, Axis>>,
        x: f64,
        y: &Spread,
        colour: RGBColor,
    ) -> Result<(), Fault<D>> {
        if y.low < y.high {
            chart.draw_series(LineSeries::new(
                [(x, y.low), (x, y.high)],
                colour.stroke_width(self.length(1)),
            ))?;
        }
        Ok(())
    }

    fn counts<D: DrawingBackend>(&self, area: &Area<D>, counts: &Counts) -> Result<(), Fault<D>> {
        let y = Axis::over(counts.bars.iter().map(|&(_, _, y)| y));
        let first = counts.ticks.first().map_or(0.0, |tick| tick.at);
        let last = counts.ticks.last().map_or(1.0, |tick| tick.at);
        let x = Axis {
            range: first - 0.15..last + 0.15,
            ticks: counts.ticks.clone(),
        };
        let labels = (counts.x_label.as_str(), counts.y_label.as_str());
        let mut chart = self.axes(area, "", labels, (x, y), false)?;
        for &(from, to, count) in &counts.bars {
            let gap = 0.06 * (to - from);
            let corners = [(from + gap, 0.0), (to - gap, count)];
            chart.draw_series([Rectangle::new(corners, COLOURS[0].filled())])?;
        }
        Ok(())
    }

    fn bars<D: DrawingBackend>(&self, area: &Area<D>, bars: &Bars) -> Result<(), Fault<D>> {
        let values = bars.groups.iter().flat_map(|(_, values)| values);
        let y = Axis::over(values.flatten().flat_map(|value| [value.low, value.high]));
        let ticks = bars
            .groups
            .iter()
            .enumerate()
            .map(|(place, (label, _))| Tick {
                at: place as f64 + 0.5,
                label: label.clone(),
            });
        let x = Axis {
            range: 0.0..bars.groups.len() as f64,
            ticks: ticks.collect(),
        };
        let labels = (bars.x_label.as_str(), bars.y_label.as_str());
        let mut chart = self.axes(area, &bars.title, labels, (x, y), false)?;
        for (place, (_, values)) in bars.groups.iter().enumerate() {
            let width = 0.84 / values.len().max(1) as f64;
            for (number, value) in values.iter().enumerate() {
                let Some(value) = *value else { continue };
                let left = place as f64 + 0.08 + width * number as f64;
                let mark = &bars.series[number];
                let colour = COLOURS[mark.colour.unwrap_or(0) % COLOURS.len()];
                let style = match mark.pale {
                    true => colour.mix(PALE).filled(),
                    false => colour.filled(),
                };
                let corners = [
                    (left + 0.06 * width, 0.0),
                    (left + 0.94 * width, value.mean),
                ];
                chart.draw_series([Rectangle::new(corners, style)])?;
                self.whisker(&mut chart, left + 0.5 * width, &value, INK)?;
            }
        }
        chart.draw_series(LineSeries::new(
            [(0.0, 0.0), (bars.groups.len() as f64, 0.0)],
            INK.mix(0.7).stroke_width(self.length(1)),
        ))?;
        Ok(())
    }

    fn trades<D: DrawingBackend>(&self, area: &Area<D>, trades: &Trades) -> Result<(), Fault<D>> {
        let ends = || {
            trades
                .pairs
                .iter()
                .flat_map(|pair| [pair.plain, pair.corrected])
        };
        let x = Axis::around(ends().map(|end| end.0));
        let y = Axis::around(ends().map(|end| end.1));
        let labels = (trades.x_label.as_str(), trades.y_label.as_str());
        let mut chart = self.axes(area, &trades.title, labels, (x, y), true)?;
        for pair in &trades.pairs {
            let colour = COLOURS[pair.mark.colour.unwrap_or(0) % COLOURS.len()];
            chart.draw_series(LineSeries::new(
                [pair.plain, pair.corrected],
                colour.mix(0.6).stroke_width(self.length(1)),
            ))?;
            for (end, pale) in [(pair.plain, true), (pair.corrected, false)] {
                let at = chart.backend_coord(&end);
                let mark = Mark { pale, ..pair.mark };
                self.mark(area, &mark, at_area(area, at), 5)?;
            }
        }
        Ok(())
    }

    fn front<D: DrawingBackend>(&self, area: &Area<D>, front: &Front) -> Result<(), Fault<D>> {
        let x = Axis::around(front.points.iter().map(|(_, (x, _))| *x));
        let y = Axis::around(front.points.iter().map(|(_, (_, y))| *y));
        let labels = (front.x_label.as_str(), front.y_label.as_str());
        let mut chart = self.axes(area, "", labels, (x, y), true)?;
        chart.draw_series(LineSeries::new(
            front.front.iter().copied(),
            INK.mix(0.5).stroke_width(self.length(1)),
        ))?;
        for (mark, place) in &front.points {
            let at = chart.backend_coord(place);
            self.mark(area, mark, at_area(area, at), 5)?;
        }
        Ok(())
    }
}

impl Mark {
    /// Of a line so wide.
    fn stroke(&self, width: u32) -> ShapeStyle {
        let pale = self.pale && self.shape == Marker::Line;
        let part = if pale { PALE } else { 1.0 };
        self.ink().mix(part).stroke_width(width)
    }

    fn ink(&self) -> RGBColor {
        self.colour
            .map_or(INK, |number| COLOURS[number % COLOURS.len()])
    }
}

/// A place of the canvas as one of an area.
fn at_area<D: DrawingBackend>(area: &Area<D>, (x, y): (i32, i32)) -> (i32, i32) {
    let (left, top) = area.get_base_pixel();
    (x - left, y - top)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small letters stand in the middle of the place of their text, as in SVG, where half an
    /// x-height does it; upright and turned.
    #[test]
    fn text_of_pixels_stands_beside_its_mark() {
        use plotters::style::text_anchor::{HPos, Pos};
        register_font(
            FONT,
            FontStyle::Normal,
            include_bytes!("font/DejaVuSans-subset.ttf"),
        )
        .ok()
        .unwrap();
        let mut pixels = vec![255; 200 * 200 * 3];
        let style = (FONT, 28).into_font().color(&BLACK);
        let upright = style.pos(Pos::new(HPos::Left, VPos::Center));
        let turned = upright.transform(FontTransform::Rotate90);
        {
            let canvas = BitMapBackend::with_buffer(&mut pixels, (200, 200));
            let root = Pixels(canvas).into_drawing_area();
            root.draw_text("noses", &upright, (100, 50)).unwrap();
            root.draw_text("noses", &turned, (50, 100)).unwrap();
            root.present().unwrap();
        }
        let dark = |x: usize, y: usize| pixels[(y * 200 + x) * 3] < 128;
        let middle = |lines: Vec<usize>| (lines[0] + lines[lines.len() - 1]) as f64 / 2.0;
        let rows = (0..100).filter(|&y| (100..200).any(|x| dark(x, y)));
        let row = middle(rows.collect());
        assert!((row - 50.0).abs() <= 1.0, "{row}");
        let columns = (0..100).filter(|&x| (100..200).any(|y| dark(x, y)));
        let column = middle(columns.collect());
        assert!((column - 50.0).abs() <= 1.0, "{column}");
    }

    #[test]
    fn ticks_are_round() {
        let labels = |low, high| -> Vec<String> {
            let ticks = round_ticks(low, high);
            ticks.into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(
            labels(0.0, 1.06),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        let signed = ["\u{2212}3", "\u{2212}2", "\u{2212}1", "0", "1"];
        assert_eq!(labels(-3.0, 1.4), signed);
        assert_eq!(labels(0.0, 1400.0)[..3], ["0", "200", "400"]);
        let fine = round_ticks(52.41, 52.47);
        assert!((4..=8).contains(&fine.len()), "{}", fine.len());
        assert_eq!(fine[0].label, "52.41");
    }
}
