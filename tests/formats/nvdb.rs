//! NanoVDB: against its own C++ headers.
