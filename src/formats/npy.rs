//! placeholder
use crate::formats::{ReadError, WriteError};
use crate::grid::VoxelGrid;
use std::io::{BufRead, Write};
/// placeholder
pub fn read(_input: &mut dyn BufRead) -> Result<VoxelGrid, ReadError> {
    Err(ReadError::Unsupported("placeholder".into()))
}
/// placeholder
pub fn write(_grid: &VoxelGrid, _out: &mut dyn Write) -> Result<(), WriteError> {
    Err(WriteError::Unsupported("placeholder".into()))
}
